import { useState } from 'react';
import { boxLook } from '../design/Field.tsx';
import { InputField } from '../design/Inputs.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import css from './ConnectModel.module.css';
import texts from './texts.json' with { type: 'json' };
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
    <span className={`quiet ${css.figures}`}>
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
  chosen: readonly string[];
  isFixed: (name: string) => boolean;
  onChange: (chosen: readonly string[]) => void;
}) => {
  const t = useTexts(texts);
  const [typed, setTyped] = useState('');
  const { chosen, onChange } = props;
  const wanted = typed.trim();
  const offered = props.models.filter(returnsText);
  const isListed = (name: string): boolean => offered.some((model) => model.upstream_model === name);
  const found = offered.filter((model) => model.upstream_model.toLowerCase().includes(wanted.toLowerCase()));
  const row = (name: string, label = name, model?: Offered) => (
    <label key={name} className={css.model}>
      <input
        type="checkbox"
        className={boxLook}
        checked={chosen.includes(name)}
        disabled={props.isFixed(name)}
        onChange={({ target }) =>
          onChange(target.checked ? [...chosen, name] : chosen.filter((other) => other !== name))
        }
      />
      <span className="mono">{label}</span>
      {model && <Figures {...model} />}
    </label>
  );
  const named = chosen.filter((name) => !isListed(name));
  return (
    <fieldset className={`stack narrow ${css.plain}`}>
      <legend>{t('models', { name: props.name })}</legend>
      <InputField
        label={t('search')}
        hint={offered.length > 0 ? t('models.columns') : undefined}
        type="search"
        value={typed}
        onChange={setTyped}
      />
      <div className={css.models}>
        {named.map((name) => row(name))}
        {found.slice(0, SHOWN).map((model) => row(model.upstream_model, model.upstream_model, model))}
        {wanted !== '' &&
          ![...named, ''].includes(wanted) &&
          !isListed(wanted) &&
          row(wanted, t('models.use', { name: wanted }))}
        {found.length > SHOWN && <p className="quiet">{t('models.more', { count: found.length - SHOWN })}</p>}
      </div>
    </fieldset>
  );
};
