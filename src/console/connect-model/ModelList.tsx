import { useId, useState } from 'react';
import { Field } from '../design/Field.tsx';
import shared from '../entry/Entry.module.css';
import { useFormat, useTexts } from '../i18n/locale.ts';
import css from './ConnectModel.module.css';
import { texts } from './texts.ts';
import type { Offered } from './use-preview.ts';

/** Rows that are rendered; a search reaches all others. */
const SHOWN = 100;

/** Models without text in their output, such as those for embeddings, cannot be used by agents. */
const returnsText = ({ known }: Offered): boolean => known.modalities?.output?.includes('text') ?? true;

const Figures = ({ known }: Offered) => {
  const t = useTexts(texts);
  const format = useFormat();
  const input = known.input_token_price_per_million_usd;
  const output = known.output_token_price_per_million_usd;
  return (
    <span className={css.figures}>
      {known.context_window !== undefined && (
        <span>{t('models.context', { tokens: format.compact(known.context_window) })}</span>
      )}
      {input !== undefined && output !== undefined && (
        <span>{t('models.price', { input: format.usd(input), output: format.usd(output) })}</span>
      )}
    </span>
  );
};

/** The models of a provider with their figures. A typed name that is not in the list can be chosen too. */
export const ModelList = (props: {
  name: string;
  models: readonly Offered[];
  value: string;
  disabled: boolean;
  onChange: (upstream: string) => void;
}) => {
  const t = useTexts(texts);
  const group = useId();
  const [typed, setTyped] = useState('');
  const wanted = typed.trim();
  const found = props.models.filter(
    (model) => returnsText(model) && model.upstream_model.toLowerCase().includes(wanted.toLowerCase()),
  );
  const isListed = found.some(({ upstream_model }) => upstream_model === wanted);
  const option = (upstream: string, label: string, model?: Offered) => (
    <label key={upstream} className={css.model}>
      <input
        type="radio"
        name={group}
        checked={props.value === upstream}
        disabled={props.disabled}
        onChange={() => props.onChange(upstream)}
      />
      <span className={css.upstream}>{label}</span>
      {model && <Figures {...model} />}
    </label>
  );
  return (
    <fieldset className={css.plain}>
      <legend className={css.legend}>{t('models', { name: props.name })}</legend>
      <Field label={t('search')} hint={t('models.columns')}>
        {(control) => (
          <input
            {...control}
            type="search"
            value={typed}
            disabled={props.disabled}
            onChange={({ target }) => setTyped(target.value)}
          />
        )}
      </Field>
      <div className={css.models}>
        {found.slice(0, SHOWN).map((model) => option(model.upstream_model, model.upstream_model, model))}
        {wanted !== '' && !isListed && option(wanted, t('models.use', { name: wanted }))}
        {found.length > SHOWN && (
          <p className={shared.quiet}>{t('models.more', { count: found.length - SHOWN })}</p>
        )}
      </div>
    </fieldset>
  );
};
