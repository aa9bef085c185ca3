import { isObject, type JsonObject } from '../../../data/guard.ts';
import { Button, IconButton } from '../../../design/Button.tsx';
import { Chip } from '../../../design/Chip.tsx';
import { CountField } from '../../../design/CountField.tsx';
import { Field } from '../../../design/Field.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import type { Behavior } from '../tools/permission.ts';
import css from './Permission.module.css';
import { type RuleRow, ruleRows, rulesOf } from './rules.ts';
import type { SectionProps } from './section-props.ts';
import { texts } from './texts.ts';

/** What is allowed without asking, what is asked for, and what is refused. */

const BEHAVIORS = ['allow', 'ask', 'deny'] as const;
const SCOPES = ['once', 'session', 'thread', 'project', 'user'] as const;
const DECISIONS = ['deny', 'approve'] as const;
const TONES = { allow: 'success', ask: 'warn', deny: 'error' } as const;
const SHOWN_MATCHES = 3;

const Choice = <V extends string>(props: {
  label: string;
  value: unknown;
  options: readonly V[];
  named: (option: V) => string;
  onChange: (value: V) => void;
}) => (
  <Field label={props.label}>
    {(control) => (
      <select
        {...control}
        value={String(props.value)}
        onChange={(event) => {
          const chosen = props.options.find((option) => option === event.target.value);
          if (chosen) props.onChange(chosen);
        }}
      >
        {props.options.map((option) => (
          <option key={option} value={option}>
            {props.named(option)}
          </option>
        ))}
      </select>
    )}
  </Field>
);

const Matches = ({ row }: { row: RuleRow }) => {
  const t = useTexts(texts);
  const { matches, overruledBy } = row;
  const names = matches.slice(0, SHOWN_MATCHES).join(', ');
  return (
    <div className={css.matches}>
      <span>{t('rule.matches', { count: matches.length })}</span>
      {names && (
        <span className={css.mono}>
          {names}
          {matches.length > SHOWN_MATCHES && ' …'}
        </span>
      )}
      {overruledBy !== undefined && (
        <Chip tone="warn" icon="warn">
          {t('rule.overruled', { rule: overruledBy + 1 })}
        </Chip>
      )}
    </div>
  );
};

const RuleFields = (props: {
  row: RuleRow;
  error: (field: string) => string | undefined;
  onChange: (rule: JsonObject) => void;
}) => {
  const t = useTexts(texts);
  const { rule, behavior } = props.row;
  const set = (field: string, value: unknown): void => {
    const { [field]: _, ...others } = rule;
    props.onChange(value === undefined ? others : { ...rule, [field]: value });
  };
  return (
    <div className={css.ruleFields}>
      <Field label={t('rule.tool')} error={props.error('tool')}>
        {(control) => (
          <input
            {...control}
            type="text"
            className={css.mono}
            spellCheck={false}
            value={typeof rule.tool === 'string' ? rule.tool : ''}
            onChange={(event) => set('tool', event.target.value)}
          />
        )}
      </Field>
      <Choice
        label={t('rule.behavior')}
        value={behavior}
        options={BEHAVIORS}
        named={(option) => t(`behavior.${option}`)}
        onChange={(value) => set('behavior', value)}
      />
      <Choice
        label={t('rule.scope')}
        value={rule.scope ?? 'project'}
        options={SCOPES}
        named={(option) => t(`scope.${option}`)}
        onChange={(value) => set('scope', value)}
      />
      {behavior === 'ask' && (
        <>
          <CountField
            label={t('rule.timeout')}
            value={rule.timeout_secs}
            placeholder={t('rule.timeout.none')}
            error={props.error('timeout_secs')}
            onChange={(value) => set('timeout_secs', value)}
          />
          {rule.timeout_secs !== undefined && (
            <Choice
              label={t('rule.onTimeout')}
              value={rule.on_timeout ?? 'deny'}
              options={DECISIONS}
              named={(option) => t(`decision.${option}`)}
              onChange={(value) => set('on_timeout', value)}
            />
          )}
        </>
      )}
    </div>
  );
};

const Rules = ({ value, path, errors, onChange, tools }: SectionProps) => {
  const t = useTexts(texts);
  const rules = rulesOf(value);
  const put = (next: JsonObject[]): void => onChange({ ...value, rules: next });
  const add = (): void => put([...rules, { tool: '', behavior: 'ask' }]);
  const rows = ruleRows(value, tools);
  return (
    <div className={css.group}>
      <div className={css.groupHead}>
        <h3>{t('rules')}</h3>
        <span className={css.note}>{t('rules.note')}</span>
        <Button small icon="plus" onClick={add}>
          {t('rule.add')}
        </Button>
      </div>
      {rows.length === 0 && <p className={css.note}>{t('rules.none')}</p>}
      {rows.length > 0 && (
        <ol className={css.rules}>
          {rows.map((row) => (
            <li key={row.index}>
              <fieldset className={css.rule} aria-label={t('rule', { number: row.index + 1 })}>
                <div className={css.ruleHead}>
                  <span className={css.number}>{row.index + 1}</span>
                  <Chip tone={TONES[row.behavior]}>{t(`behavior.${row.behavior}`)}</Chip>
                  <Matches row={row} />
                  <IconButton
                    small
                    icon="trash"
                    label={t('rule.remove', { number: row.index + 1 })}
                    onClick={() => put(rules.toSpliced(row.index, 1))}
                  />
                </div>
                <RuleFields
                  row={row}
                  error={(field) => errors.get(`${path}.rules.${row.index}.${field}`)}
                  onChange={(rule) => put(rules.with(row.index, rule))}
                />
              </fieldset>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
};

export const Permission = (props: SectionProps) => {
  const t = useTexts(texts);
  const { value, path, errors, onChange } = props;
  const usual: Behavior = BEHAVIORS.find((known) => known === value.default_behavior) ?? 'ask';
  return (
    <>
      <fieldset className={css.defaults} aria-label={t('default')}>
        {BEHAVIORS.map((behavior) => (
          <button
            key={behavior}
            type="button"
            className={css.default}
            aria-pressed={usual === behavior}
            data-tone={TONES[behavior]}
            onClick={() => onChange({ ...value, default_behavior: behavior })}
          >
            <strong>{t(`default.${behavior}`)}</strong>
            <span>{t(`default.${behavior}.text`)}</span>
          </button>
        ))}
      </fieldset>
      <Rules {...props} />
      {errors.get(path) && <p className={css.wrong}>{errors.get(path)}</p>}
    </>
  );
};

/** Rules that are no objects are only in the JSON. */
export const isEditable = (section: JsonObject): boolean =>
  section.rules === undefined || (Array.isArray(section.rules) && section.rules.every(isObject));
