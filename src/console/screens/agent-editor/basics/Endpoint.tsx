import { isObject, type JsonObject } from '../../../data/guard.ts';
import { MASK } from '../../../data/redaction.ts';
import { CountField } from '../../../design/CountField.tsx';
import { Field } from '../../../design/Field.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import css from './Basics.module.css';
import { texts } from './texts.ts';

/** Where a remote agent is. A token that is stored is never shown: what is typed replaces it. */

/** Without what says nothing. */
const set = (object: JsonObject, field: string, value: unknown): JsonObject => {
  const { [field]: _, ...others } = object;
  return value === undefined || value === '' ? others : { ...others, [field]: value };
};

const said = (value: unknown): string => (typeof value === 'string' ? value : '');

export const Endpoint = (props: {
  config: JsonObject;
  error: string | undefined;
  onChange: (config: JsonObject) => void;
}) => {
  const t = useTexts(texts);
  const { config, onChange } = props;
  const options = isObject(config.options) ? config.options : {};
  const token = isObject(config.auth) ? said(config.auth.token) : '';
  const isStored = token === MASK;
  const setToken = (value: string): void =>
    onChange(
      value === '' ? { ...config, auth: null } : { ...config, auth: { type: 'bearer', token: value } },
    );
  return (
    <>
      <Field label={t('endpoint.url')} error={props.error} required>
        {(control) => (
          <input
            {...control}
            type="url"
            className={css.mono}
            value={said(config.base_url)}
            onChange={(event) => onChange({ ...config, base_url: event.target.value })}
          />
        )}
      </Field>
      <div className={css.two}>
        <Field label={t('endpoint.target')} hint={t('endpoint.target.hint')}>
          {(control) => (
            <input
              {...control}
              type="text"
              className={css.mono}
              value={said(config.target)}
              onChange={(event) => onChange(set(config, 'target', event.target.value))}
            />
          )}
        </Field>
        <Field
          label={t('endpoint.token')}
          hint={t(isStored ? 'endpoint.token.stored' : 'endpoint.token.hint')}
        >
          {(control) => (
            <input
              {...control}
              type="password"
              autoComplete="off"
              value={isStored ? '' : token}
              onChange={(event) => setToken(event.target.value)}
            />
          )}
        </Field>
      </div>
      <div className={css.three}>
        <CountField
          label={t('endpoint.timeout')}
          value={config.timeout_ms}
          placeholder="300000"
          onChange={(value) => onChange(set(config, 'timeout_ms', value))}
        />
        <CountField
          label={t('endpoint.poll')}
          value={options.poll_interval_ms}
          placeholder="2000"
          onChange={(value) => onChange({ ...config, options: set(options, 'poll_interval_ms', value) })}
        />
      </div>
    </>
  );
};
