import { isObject } from '../../../data/guard.ts';
import { countOf } from '../../../design/CountField.tsx';
import { Field } from '../../../design/Field.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import css from './Basics.module.css';
import { texts } from './texts.ts';

const LEVELS = ['none', 'low', 'medium', 'high', 'max'] as const;
const FIRST_BUDGET = 4096;

/** A level, a number of tokens, or what the model does by itself. */
export const ReasoningEffort = (props: {
  value: unknown;
  error: string | undefined;
  onChange: (value: unknown) => void;
}) => {
  const t = useTexts(texts);
  const { value, onChange } = props;
  const budget = isObject(value) ? value.budget : undefined;
  const choice = isObject(value) ? 'custom' : (LEVELS.find((level) => level === value) ?? '');
  const choose = (wanted: string): void => {
    if (wanted === 'custom') onChange({ budget: FIRST_BUDGET });
    else onChange(wanted === '' ? undefined : wanted);
  };
  return (
    <Field label={t('effort')} error={props.error} hint={t('effort.hint')}>
      {(control) => (
        <span className={css.pair}>
          <select {...control} value={choice} onChange={(event) => choose(event.target.value)}>
            <option value="">{t('effort.default')}</option>
            {LEVELS.map((level) => (
              <option key={level} value={level}>
                {t(`effort.${level}`)}
              </option>
            ))}
            <option value="custom">{t('effort.custom')}</option>
          </select>
          {choice === 'custom' && (
            <input
              type="text"
              inputMode="numeric"
              aria-label={t('effort.budget')}
              value={String(budget ?? '')}
              onChange={(event) => onChange({ budget: countOf(event.target.value) ?? '' })}
            />
          )}
        </span>
      )}
    </Field>
  );
};
