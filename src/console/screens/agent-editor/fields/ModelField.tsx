import { useResource } from '../../../data/queries.ts';
import { idsOf } from '../../../data/records.ts';
import { Field } from '../../../design/Field.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { type SeenProps, useForm } from '../../../schema-form/context.ts';
import { useAgent } from '../agent-form.ts';
import texts from './texts.json' with { type: 'json' };

/** Selects a model or a pool. A stored id that no longer exists stays selected and is reported as missing. */
export const ModelField = ({ label, path, value: chosen, onChange }: SeenProps) => {
  const t = useTexts(texts);
  const { errors } = useForm();
  const pools = useResource(idsOf('model-pools'));
  const { models } = useAgent().capabilities;
  const value = typeof chosen === 'string' ? chosen : '';
  const isKnown = models.some(({ id }) => id === value) || pools.data?.includes(value);
  const isGone = value !== '' && !isKnown && !pools.isPending;
  const error = errors.get(path) ?? (isGone ? t('model.gone', { id: value }) : undefined);
  return (
    <Field label={label} error={error} required>
      {(control) => (
        <select {...control} value={value} onChange={(event) => onChange(event.target.value)}>
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
              {pools.data.map((id) => (
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
