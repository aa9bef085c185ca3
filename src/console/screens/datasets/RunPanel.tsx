import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { CheckField, Field } from '../../design/Field.tsx';
import { Card } from '../../design/Layout.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { RunSummary } from '../eval-runs/runs.ts';
import { MODELS } from '../models/model.ts';
import css from './Datasets.module.css';
import { cellsOf, type RunSettings } from './run-request.ts';
import { texts } from './texts.ts';

const AGENTS = recordsOf('agents', NamedRecord);

/** What the service takes as the limit of a play where nothing else is said. */
const USUAL_TOKENS = 10_000;

const Select = (props: {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}) => (
  <Field label={props.label}>
    {(control) => (
      <select {...control} value={props.value} onChange={({ target }) => props.onChange(target.value)}>
        {props.options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
);

const Text = (props: {
  label: string;
  value: string;
  placeholder?: string;
  type?: 'number';
  onChange: (value: string) => void;
}) => (
  <Field label={props.label}>
    {(control) => (
      <input
        {...control}
        type={props.type ?? 'text'}
        min={1}
        placeholder={props.placeholder}
        value={props.value}
        onChange={({ target }) => props.onChange(target.value)}
      />
    )}
  </Field>
);

export const RunPanel = (props: {
  settings: RunSettings;
  fixtures: number;
  /** Those that it can be held against, the newest first. */
  baselines: readonly RunSummary[];
  onChange: (settings: RunSettings) => void;
}) => {
  const t = useTexts(texts);
  const format = useFormat();
  const models = useResource(MODELS).data ?? [];
  const agents = useResource(AGENTS).data ?? [];
  const { settings, fixtures, baselines } = props;
  const set = (fields: Partial<RunSettings>): void => props.onChange({ ...settings, ...fields });
  const toggle = (id: string, isWanted: boolean): void =>
    set({ models: isWanted ? [...settings.models, id] : settings.models.filter((other) => other !== id) });
  const cells = cellsOf(settings, fixtures);
  const perToken = models
    .filter(({ id }) => settings.models.includes(id))
    .map((model) => model.output_token_price_per_million_usd);
  const isPriced = perToken.length > 0 && perToken.every((price) => price !== undefined);
  const tokens = Number(settings.tokens) || USUAL_TOKENS;
  const cost = perToken.reduce((sum: number, price) => sum + (price ?? 0), 0) * tokens * 1e-6;
  const plays = fixtures * Math.max(1, settings.samples);
  return (
    <Card
      title={t('run.settings')}
      note={
        <>
          {t('run.cells', { count: cells })}
          {isPriced && ` · ${t('run.estimate', { cost: format.usd(cost * plays) })}`}
        </>
      }
    >
      <div className={css.form}>
        <div className={css.three}>
          <Select
            label={t('run.mode')}
            value={settings.mode}
            options={[
              ['scripted', t('run.mode.scripted')],
              ['live', t('run.mode.live')],
            ]}
            onChange={(mode) => set({ mode: mode === 'live' ? 'live' : 'scripted', baseline: '' })}
          />
          {baselines.length > 0 && (
            <Select
              label={t('run.baseline')}
              value={settings.baseline}
              options={[
                ['', t('run.baseline.none')],
                ...baselines.map((run): [string, string] => [
                  run.id,
                  t('run.baseline.of', {
                    time: format.date(run.started_at_secs * 1000),
                    passed: run.passed_count,
                    count: run.item_count,
                  }),
                ]),
              ]}
              onChange={(baseline) => set({ baseline })}
            />
          )}
          {settings.mode === 'live' && (
            <>
              <Select
                label={t('run.agent')}
                value={settings.agent}
                options={[['', t('run.agent.none')], ...agents.map(({ id }): [string, string] => [id, id])]}
                onChange={(agent) => set({ agent })}
              />
              <Select
                label={t('run.tools')}
                value={settings.tools}
                options={[
                  ['none', t('run.tools.none')],
                  ['recorded', t('run.tools.recorded')],
                  ['execute', t('run.tools.execute')],
                ]}
                onChange={(tools) =>
                  set({ tools: tools === 'execute' || tools === 'recorded' ? tools : 'none' })
                }
              />
              <Text
                label={t('run.samples')}
                type="number"
                value={String(settings.samples)}
                onChange={(samples) => set({ samples: Math.max(1, Math.trunc(Number(samples)) || 1) })}
              />
              <Text
                label={t('run.seconds')}
                type="number"
                placeholder="60"
                value={settings.seconds}
                onChange={(seconds) => set({ seconds })}
              />
              <Text
                label={t('run.tokens')}
                type="number"
                placeholder={String(USUAL_TOKENS)}
                value={settings.tokens}
                onChange={(tokens) => set({ tokens })}
              />
              <Select
                label={t('run.judge')}
                value={settings.judge}
                options={[['', t('run.judge.none')], ...models.map(({ id }): [string, string] => [id, id])]}
                onChange={(judge) => set({ judge })}
              />
              {settings.judge !== '' && (
                <Text
                  label={t('run.rubric')}
                  value={settings.rubric}
                  onChange={(rubric) => set({ rubric })}
                />
              )}
            </>
          )}
        </div>
        {settings.mode === 'live' && (
          <fieldset className={css.box}>
            <legend>{t('run.models')}</legend>
            <div className={css.checks}>
              {models.map(({ id }) => (
                <CheckField
                  key={id}
                  label={id}
                  checked={settings.models.includes(id)}
                  onChange={(isWanted) => toggle(id, isWanted)}
                />
              ))}
            </div>
          </fieldset>
        )}
      </div>
    </Card>
  );
};
