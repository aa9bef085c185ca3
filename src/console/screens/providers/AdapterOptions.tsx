import { MASK } from '../../data/redact-text.ts';
import { Field } from '../../design/Field.tsx';
import { objectOf, textOf } from '../../entry/entry.ts';
import { SecretField } from '../../entry/SecretField.tsx';
import type { EntryForm } from '../../entry/use-entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import css from './Providers.module.css';
import { type AdapterOption, withOptions } from './provider.ts';
import { texts } from './texts.ts';

type OptionProps = { form: EntryForm; option: AdapterOption };

/** The service shows a mark in place of a stored secret, and takes the mark for what is stored. */
const SecretOption = ({ form, option: { name } }: OptionProps) => {
  const isStored = textOf(objectOf(form.opened.start.adapter_options)[name]) === MASK;
  const value = textOf(objectOf(form.draft.adapter_options)[name]);
  const set = (typed: string | undefined): void => {
    const kept = typed === undefined && isStored ? MASK : typed;
    form.set(withOptions(form.draft, { [name]: kept === '' ? undefined : kept }));
  };
  const shown = value === MASK ? undefined : value;
  return <SecretField title={name} isStored={isStored} value={shown} onChange={set} />;
};

const PlainOption = ({ form, option: { name, choices } }: OptionProps) => {
  const t = useTexts(texts);
  const value = textOf(objectOf(form.draft.adapter_options)[name]);
  const set = (typed: string): void =>
    form.set(withOptions(form.draft, { [name]: typed === '' ? undefined : typed }));
  return (
    <Field label={name}>
      {(control) =>
        choices ? (
          <select {...control} value={value} onChange={({ target }) => set(target.value)}>
            <option value="">{t('option.default')}</option>
            {choices.map((choice) => (
              <option key={choice} value={choice}>
                {choice}
              </option>
            ))}
          </select>
        ) : (
          <input
            {...control}
            type="text"
            className={css.mono}
            value={value}
            onChange={({ target }) => set(target.value)}
          />
        )
      }
    </Field>
  );
};

/** The options that only this adapter reads. */
export const AdapterOptions = ({ form, options }: { form: EntryForm; options: readonly AdapterOption[] }) => (
  <>
    {options
      .filter(({ is_secret }) => !is_secret)
      .map((option) => (
        <PlainOption key={option.name} form={form} option={option} />
      ))}
    {options
      .filter(({ is_secret }) => is_secret)
      .map((option) => (
        <SecretOption key={option.name} form={form} option={option} />
      ))}
  </>
);
