import { isObject } from '../../../data/guard.ts';
import { Field } from '../../../design/Field.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { ScreenLink } from '../../../shell/links.tsx';
import { isLocal } from '../draft.ts';
import { Resettable } from '../Overridden.tsx';
import type { BasicsProps } from './props.ts';
import { texts } from './texts.ts';

/** Where the agent runs. Another place starts with what it says of itself. */
export const Backend = ({ draft, change, capabilities, localKind }: BasicsProps) => {
  const t = useTexts(texts);
  const kind =
    isObject(draft.backend) && typeof draft.backend.kind === 'string' ? draft.backend.kind : localKind;
  const choose = (wanted: string): void => {
    const backend = capabilities.backends.find((known) => known.kind === wanted);
    if (!backend) return;
    const { version, default_config: config } = backend;
    change({ backend: { kind: wanted, version, config }, endpoint: undefined });
  };
  const hint = isLocal(draft, localKind) ? undefined : (
    <>
      {t('backend.discovered')} <ScreenLink to="/a2a-servers">{t('backend.servers')}</ScreenLink>
    </>
  );
  return (
    <Resettable field="backend">
      <Field label={t('backend')} {...(hint && { hint })}>
        {(control) => (
          <select {...control} value={kind} onChange={(event) => choose(event.target.value)}>
            {capabilities.backends.map((backend) => (
              <option key={backend.kind} value={backend.kind}>
                {backend.display_name || backend.kind}
              </option>
            ))}
          </select>
        )}
      </Field>
    </Resettable>
  );
};
