import { isObject } from '../../../data/guard.ts';
import { CountField } from '../../../design/CountField.tsx';
import { CheckField, Field } from '../../../design/Field.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import type { PanelProps } from '../panel.ts';
import css from './Advanced.module.css';
import { texts } from './texts.ts';

const FIRST = {
  max_context_tokens: 200_000,
  max_output_tokens: 16_384,
  min_recent_messages: 10,
  enable_prompt_cache: true,
  compaction_mode: 'keep_recent_raw_suffix',
  compaction_raw_suffix_messages: 2,
};

const MODES = ['keep_recent_raw_suffix', 'compact_to_safe_frontier'] as const;

const COUNTS = ['max_context_tokens', 'max_output_tokens', 'min_recent_messages'] as const;
const OPTIONAL = ['autocompact_threshold', 'compaction_raw_suffix_messages'] as const;

/** How much of a long conversation the model gets; without one, all of it. */
export const ContextPolicy = ({ draft, change, errors }: PanelProps) => {
  const t = useTexts(texts);
  const policy = isObject(draft.context_policy) ? draft.context_policy : undefined;
  const set = (field: string, value: unknown): void => {
    const { [field]: _, ...others } = policy ?? {};
    change({ context_policy: value === undefined ? others : { ...others, [field]: value } });
  };
  return (
    <Card title={t('policy')}>
      <div className={css.form}>
        <CheckField
          label={t('policy.apply')}
          checked={policy !== undefined}
          onChange={(checked) => change({ context_policy: checked ? FIRST : null })}
        />
        {policy && (
          <>
            <div className={css.three}>
              {COUNTS.map((field) => (
                <CountField
                  key={field}
                  label={t(field)}
                  value={policy[field]}
                  error={errors.get(`context_policy.${field}`)}
                  onChange={(value) => set(field, value ?? '')}
                />
              ))}
              {OPTIONAL.map((field) => (
                <CountField
                  key={field}
                  label={t(field)}
                  hint={t(`${field}.hint`)}
                  value={policy[field] ?? undefined}
                  error={errors.get(`context_policy.${field}`)}
                  onChange={(value) => set(field, value)}
                />
              ))}
              <Field label={t('compaction_mode')} error={errors.get('context_policy.compaction_mode')}>
                {(control) => (
                  <select
                    {...control}
                    value={String(policy.compaction_mode ?? MODES[0])}
                    onChange={(event) => set('compaction_mode', event.target.value)}
                  >
                    {MODES.map((mode) => (
                      <option key={mode} value={mode}>
                        {t(`mode.${mode}`)}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
            </div>
            <CheckField
              label={t('enable_prompt_cache')}
              checked={policy.enable_prompt_cache === true}
              onChange={(checked) => set('enable_prompt_cache', checked)}
            />
          </>
        )}
      </div>
    </Card>
  );
};
