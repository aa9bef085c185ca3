import { Fragment, type ReactNode, useState } from 'react';
import { isObject, type JsonObject } from '../data/guard.ts';
import { CountField } from '../design/CountField.tsx';
import { Field } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import css from './ModelSettings.module.css';
import { choiceOf, linesOf, stopOf, toolOf } from './settings.ts';
import { texts } from './texts.ts';

/** Settings of a model call. Each field is wrapped by the screen, which may add how it is reset. */

export type ModelSettingsProps = {
  /** The agent or the model. */
  spec: JsonObject;
  errors: ReadonlyMap<string, string>;
  /** A field that is undefined is taken out. */
  change(fields: JsonObject): void;
  /** Text that is no JSON object was typed at a field; undefined: it is one again. */
  onUnread(field: string, text: string | undefined): void;
  wrap?: (field: string, content: ReactNode) => ReactNode;
};

const NUMBERS = [
  ['temperature', 0.1],
  ['top_p', 0.1],
  ['max_tokens', undefined],
  ['seed', undefined],
] as const;

const Verbosity = ({ spec, errors, change }: ModelSettingsProps) => {
  const t = useTexts(texts);
  return (
    <Field label={t('verbosity')} error={errors.get('verbosity')}>
      {(control) => (
        <select
          {...control}
          value={choiceOf(spec.verbosity)}
          onChange={({ target }) => change({ verbosity: target.value || undefined })}
        >
          <option value="">{t('unset')}</option>
          {(['low', 'medium', 'high'] as const).map((level) => (
            <option key={level} value={level}>
              {t(`verbosity.${level}`)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
};

const Tier = ({ spec, errors, change }: ModelSettingsProps) => {
  const t = useTexts(texts);
  return (
    <Field label={t('service_tier')} hint={t('service_tier.hint')} error={errors.get('service_tier')}>
      {(control) => (
        <input
          {...control}
          type="text"
          value={choiceOf(spec.service_tier)}
          onChange={({ target }) => change({ service_tier: target.value.trim() || undefined })}
        />
      )}
    </Field>
  );
};

const ToolChoice = ({ spec, errors, change }: ModelSettingsProps) => {
  const t = useTexts(texts);
  const choice = choiceOf(spec.tool_choice);
  const choose = (wanted: string): void =>
    change({ tool_choice: wanted === 'tool' ? { tool: '' } : wanted || undefined });
  return (
    <Field label={t('tool_choice')} error={errors.get('tool_choice')}>
      {(control) => (
        <span className={css.pair}>
          <select {...control} value={choice} onChange={({ target }) => choose(target.value)}>
            <option value="">{t('unset')}</option>
            {(['auto', 'none', 'required', 'tool'] as const).map((value) => (
              <option key={value} value={value}>
                {t(`choice.${value}`)}
              </option>
            ))}
          </select>
          {choice === 'tool' && (
            <input
              type="text"
              aria-label={t('choice.id')}
              value={toolOf(spec.tool_choice)}
              onChange={({ target }) => change({ tool_choice: { tool: target.value.trim() } })}
            />
          )}
        </span>
      )}
    </Field>
  );
};

const Parallel = ({ spec, errors, change }: ModelSettingsProps) => {
  const t = useTexts(texts);
  const value = spec.parallel_tool_calls;
  return (
    <Field label={t('parallel_tool_calls')} error={errors.get('parallel_tool_calls')}>
      {(control) => (
        <select
          {...control}
          value={typeof value === 'boolean' ? String(value) : ''}
          onChange={({ target }) =>
            change({ parallel_tool_calls: target.value === '' ? undefined : target.value === 'true' })
          }
        >
          <option value="">{t('unset')}</option>
          <option value="true">{t('parallel.true')}</option>
          <option value="false">{t('parallel.false')}</option>
        </select>
      )}
    </Field>
  );
};

const Stop = ({ spec, errors, change }: ModelSettingsProps) => {
  const t = useTexts(texts);
  const [typed, type] = useState(() => linesOf(spec.stop));
  // A value from elsewhere is shown as it is.
  const text = linesOf(stopOf(typed)) === linesOf(spec.stop) ? typed : linesOf(spec.stop);
  return (
    <Field label={t('stop')} hint={t('stop.hint')} error={errors.get('stop')}>
      {(control) => (
        <textarea
          {...control}
          rows={2}
          value={text}
          onChange={({ target }) => {
            type(target.value);
            change({ stop: stopOf(target.value) });
          }}
        />
      )}
    </Field>
  );
};

const optionsIn = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const shownOptions = (value: unknown): string => (isObject(value) ? JSON.stringify(value, null, 2) : '');

const ProviderOptions = ({ spec, errors, change, onUnread }: ModelSettingsProps) => {
  const t = useTexts(texts);
  const [typed, type] = useState(() => shownOptions(spec.provider_options));
  const isBad = typed.trim() !== '' && optionsIn(typed) === undefined;
  const error = isBad ? t('provider_options.bad') : errors.get('provider_options');
  const put = (text: string): void => {
    type(text);
    const options = optionsIn(text);
    const isEmpty = text.trim() === '';
    onUnread('provider_options', options || isEmpty ? undefined : text);
    if (options || isEmpty) change({ provider_options: options });
  };
  return (
    <Field label={t('provider_options')} hint={t('provider_options.hint')} error={error}>
      {(control) => (
        <textarea
          {...control}
          className={css.mono}
          rows={4}
          spellCheck={false}
          value={typed}
          onChange={({ target }) => put(target.value)}
        />
      )}
    </Field>
  );
};

const asItIs: NonNullable<ModelSettingsProps['wrap']> = (field, content) => (
  <Fragment key={field}>{content}</Fragment>
);

export const ModelSettings = (props: ModelSettingsProps) => {
  const t = useTexts(texts);
  const { spec, errors, change, wrap = asItIs } = props;
  const number = ([field, step]: (typeof NUMBERS)[number]): ReactNode =>
    wrap(
      field,
      <CountField
        label={t(field)}
        value={spec[field]}
        error={errors.get(field)}
        {...(step !== undefined && { step })}
        onChange={(value) => change({ [field]: value })}
      />,
    );
  return (
    <div className={css.form}>
      <p>{t('intro')}</p>
      <div className={css.grid}>
        {NUMBERS.map(number)}
        {wrap('tool_choice', <ToolChoice {...props} />)}
        {wrap('parallel_tool_calls', <Parallel {...props} />)}
        {wrap('verbosity', <Verbosity {...props} />)}
        {wrap('service_tier', <Tier {...props} />)}
      </div>
      {wrap('stop', <Stop {...props} />)}
      {wrap('provider_options', <ProviderOptions {...props} />)}
    </div>
  );
};
