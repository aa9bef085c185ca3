import { useMemo } from 'react';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { useIsOffered } from '../../data/test-agents.ts';
import { Card } from '../../design/Layout.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Words } from '../../schema-form/context.ts';
import { wordsFrom } from '../../schema-form/hints.ts';
import { SchemaForm } from '../../schema-form/SchemaForm.tsx';
import type { Schema } from '../../schema-form/schema.ts';
import { nameOf, type RunSummary } from '../eval-runs/runs.ts';
import runTexts from '../eval-runs/texts.json' with { type: 'json' };
import { MODELS, type Model } from '../models/model.ts';
import { Checks } from './Checks.tsx';
import { cellsOf, modelsIn, type RunSettings } from './run-request.ts';
import texts from './texts.json' with { type: 'json' };

const AGENTS = recordsOf('agents', NamedRecord);

/** The service's default token limit per execution. */
const USUAL_TOKENS = 10_000;

const limit = (usual: number): Schema => ({ type: 'integer', minimum: 1, default: usual });

const ids = (entries: readonly { id: string }[]): Schema => ({ enum: entries.map(({ id }) => id) });

const schemaOf = (
  models: readonly Model[],
  agents: readonly { id: string }[],
  baselines: readonly RunSummary[],
): Schema => ({
  type: 'object',
  required: ['mode'],
  properties: {
    mode: { enum: ['scripted', 'live'] },
    models: { type: 'array', items: ids(models) },
    baseline_run_id: ids(baselines),
    agent_id: ids(agents),
    tools: { enum: ['none', 'recorded', 'execute'], default: 'none' },
    samples: limit(1),
    max_walltime_secs: limit(60),
    max_total_tokens: limit(USUAL_TOKENS),
    judge: {
      type: 'object',
      required: ['model_id'],
      properties: { model_id: ids(models), rubric: { type: 'string' } },
    },
  },
});

const UI = { models: { 'ui:widget': 'checks' }, judge: { 'ui:widget': 'optional', 'ui:start': {} } };

const WIDGETS = { checks: Checks };

/** Maximum cost of the run in USD, if a price of each chosen model is known. */
const costOf = (settings: RunSettings, fixtures: number, models: readonly Model[]): number | undefined => {
  const chosen = modelsIn(settings);
  const prices = models
    .filter(({ id }) => chosen.includes(id))
    .flatMap(({ output_token_price_per_million_usd: price }) => price ?? []);
  if (settings.mode !== 'live' || chosen.length === 0 || prices.length < chosen.length) return undefined;
  const tokens = Number(settings.max_total_tokens ?? USUAL_TOKENS);
  const perCell = prices.reduce((sum, price) => sum + price * 1e-6, 0) / chosen.length;
  return perCell * tokens * cellsOf(settings, fixtures);
};

/** The texts of the form; the options of the baseline are the names of runs. */
const useWords = (baselines: readonly RunSummary[]): Words => {
  const t = useTexts(texts);
  const say = useTexts(runTexts);
  const { moment } = useFormat();
  return useMemo(() => {
    const words = wordsFrom(t, texts, (place) => `run.${place}`);
    const names = new Map(
      baselines.map((run) => [
        `baseline_run_id.${run.id}`,
        t('run.baseline', {
          name: nameOf(run, say, moment),
          passed: run.passed_count,
          count: run.item_count,
        }),
      ]),
    );
    return (place) => names.get(place) ?? words(place);
  }, [t, say, moment, baselines]);
};

export const RunPanel = (props: {
  settings: RunSettings;
  fixtures: number;
  /** Runs that can serve as the baseline, newest first. */
  baselines: readonly RunSummary[];
  onChange: (settings: RunSettings) => void;
}) => {
  const t = useTexts(texts);
  const format = useFormat();
  const isOffered = useIsOffered();
  const models = useResource(MODELS).data ?? [];
  const agents = (useResource(AGENTS).data ?? []).filter(({ id }) => isOffered(id));
  const { settings, fixtures, baselines } = props;
  const cost = costOf(settings, fixtures, models);
  const estimate = cost === undefined ? '' : ` · ${t('run.estimate', { cost: format.usd(cost) })}`;
  const hasBaseline = baselines.length > 0 ? ['baseline_run_id'] : [];
  const limits = ['agent_id', 'tools', 'samples', 'max_walltime_secs', 'max_total_tokens', 'judge'];
  return (
    <Card
      title={t('run.settings')}
      note={`${t('run.cells', { count: cellsOf(settings, fixtures) })}${estimate}`}
    >
      <SchemaForm
        label={t('run.settings')}
        schema={schemaOf(models, agents, baselines)}
        ui={UI}
        widgets={WIDGETS}
        words={useWords(baselines)}
        fields={
          settings.mode === 'live'
            ? ['models', 'mode', ...hasBaseline, { title: t('run.more'), fields: limits, isClosed: true }]
            : ['mode', ...hasBaseline]
        }
        value={settings}
        onChange={(next) =>
          props.onChange({
            ...next,
            mode: String(next.mode),
            ...(next.mode !== settings.mode && { baseline_run_id: undefined }),
          })
        }
      />
    </Card>
  );
};
