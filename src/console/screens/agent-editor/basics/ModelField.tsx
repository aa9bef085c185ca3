import { useResource } from '../../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../../data/records.ts';
import type { Capabilities } from '../../../data/resources.ts';
import { Field } from '../../../design/Field.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { texts } from './texts.ts';

const POOLS = recordsOf('model-pools', NamedRecord);

/** A model or a pool of them. What is stored and no longer there stays chosen, and is said to be gone. */
export const ModelField = (props: {
  value: string;
  capabilities: Capabilities;
  error: string | undefined;
  onChange: (id: string) => void;
}) => {
  const t = useTexts(texts);
  const { value, capabilities } = props;
  const pools = useResource(POOLS);
  const { models } = capabilities;
  const isKnown = [...models, ...(pools.data ?? [])].some(({ id }) => id === value);
  const isGone = value !== '' && !isKnown && !pools.isPending;
  const error = props.error ?? (isGone ? t('model.gone', { id: value }) : undefined);
  return (
    <Field label={t('model')} error={error} required>
      {(control) => (
        <select {...control} value={value} onChange={(event) => props.onChange(event.target.value)}>
          <option value="">{t('model.choose')}</option>
          {value !== '' && !isKnown && (
            <option value={value}>{isGone ? t('model.option.gone', { id: value }) : value}</option>
          )}
          <optgroup label={t('models')}>
            {models.map(({ id, provider_id, upstream_model }) => (
              <option key={id} value={id}>
                {id} — {provider_id} · {upstream_model}
              </option>
            ))}
          </optgroup>
          {pools.data && pools.data.length > 0 && (
            <optgroup label={t('pools')}>
              {pools.data.map(({ id }) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </optgroup>
          )}
        </select>
      )}
    </Field>
  );
};
