import { isObject, type JsonObject } from '../../../data/guard.ts';
import { sectionsOf } from '../../../data/spec.ts';
import { CountField } from '../../../design/CountField.tsx';
import { CheckField, Field } from '../../../design/Field.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { withSection } from '../draft.ts';
import type { PanelProps } from '../panel.ts';
import css from './Advanced.module.css';
import { texts } from './texts.ts';

const FIRST = {
  mode: 'background',
  summarizer_system_prompt: 'You summarise conversations: facts, decisions and open questions, in few words.',
  summarizer_user_prompt: 'Summary so far:\n{previous_summary}\n\nMessages:\n{messages}',
  summary_max_tokens: 1024,
  min_savings_ratio: 0.3,
  raw_retention: 'preserve_durable',
};

const PROMPTS = ['summarizer_system_prompt', 'summarizer_user_prompt'] as const;

/** How old messages are summarised. Without the section, as the service does it by itself. */
export const Compaction = ({ draft, change, errors }: PanelProps) => {
  const t = useTexts(texts);
  const { compaction } = sectionsOf(draft);
  const section = isObject(compaction) ? compaction : undefined;
  const put = (next: JsonObject | undefined): void => change(withSection(draft, 'compaction', next));
  const set = (field: string, value: unknown): void => {
    const { [field]: _, ...others } = section ?? {};
    put(value === undefined || value === '' ? others : { ...others, [field]: value });
  };
  const errorOf = (field: string): string | undefined => errors.get(`sections.compaction.${field}`);
  return (
    <Card title={t('compaction')}>
      <div className={css.form}>
        <CheckField
          label={t('compaction.apply')}
          checked={section !== undefined}
          onChange={(checked) => put(checked ? FIRST : undefined)}
        />
        {section && (
          <>
            <CheckField
              label={t('compaction.on')}
              checked={section.mode !== 'off'}
              onChange={(checked) => set('mode', checked ? 'background' : 'off')}
            />
            {PROMPTS.map((field) => (
              <Field key={field} label={t(field)} hint={t(`${field}.hint`)} error={errorOf(field)} required>
                {(control) => (
                  <textarea
                    {...control}
                    rows={3}
                    className={css.mono}
                    value={typeof section[field] === 'string' ? section[field] : ''}
                    onChange={(event) => set(field, event.target.value)}
                  />
                )}
              </Field>
            ))}
            <div className={css.three}>
              <CountField
                label={t('summary_max_tokens')}
                value={section.summary_max_tokens}
                error={errorOf('summary_max_tokens')}
                onChange={(value) => set('summary_max_tokens', value)}
              />
              <CountField
                label={t('min_savings_ratio')}
                step={0.1}
                hint={t('min_savings_ratio.hint')}
                value={section.min_savings_ratio}
                error={errorOf('min_savings_ratio')}
                onChange={(value) => set('min_savings_ratio', value)}
              />
              <Field
                label={t('summary_model')}
                hint={t('summary_model.hint')}
                error={errorOf('summary_model')}
              >
                {(control) => (
                  <input
                    {...control}
                    type="text"
                    className={css.mono}
                    value={typeof section.summary_model === 'string' ? section.summary_model : ''}
                    onChange={(event) => set('summary_model', event.target.value)}
                  />
                )}
              </Field>
            </div>
          </>
        )}
      </div>
    </Card>
  );
};
