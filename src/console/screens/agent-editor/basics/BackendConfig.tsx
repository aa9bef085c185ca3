import { useMemo } from 'react';
import { isObject, type JsonObject } from '../../../data/guard.ts';
import { useTexts } from '../../../i18n/locale.ts';
import { SchemaForm } from '../../../schema-form/SchemaForm.tsx';
import type { BasicsProps } from './props.ts';
import { texts } from './texts.ts';

/** What an agent elsewhere is reached by. A token that is stored is never shown: what is typed replaces it. */

const PATH = 'backend.config';

/** Names that the schema has, in the language of the user. */
const useHints = (): JsonObject => {
  const t = useTexts(texts);
  return useMemo(
    () => ({
      base_url: { 'ui:title': t('endpoint.url') },
      target: { 'ui:title': t('endpoint.target'), 'ui:description': t('endpoint.target.hint') },
      auth: {
        'ui:title': t('endpoint.auth'),
        token: {
          'ui:title': t('endpoint.token'),
          'ui:description': t('endpoint.token.hint'),
          'ui:widget': 'password',
        },
      },
      timeout_ms: { 'ui:title': t('endpoint.timeout') },
      options: { 'ui:title': t('endpoint.options') },
    }),
    [t],
  );
};

export const BackendConfig = ({ draft, change, capabilities, errors, unread, onUnread }: BasicsProps) => {
  const t = useTexts(texts);
  const hints = useHints();
  const backend = isObject(draft.backend) ? draft.backend : {};
  const known = capabilities.backends.find(({ kind }) => kind === backend.kind);
  const refused = errors.get('backend');
  const all = useMemo(
    () => (refused === undefined ? errors : new Map([...errors, [PATH, refused]])),
    [errors, refused],
  );
  return (
    <SchemaForm
      label={t('endpoint.json')}
      schema={known?.schema ?? {}}
      ui={{ ...known?.ui_schema, ...hints }}
      value={isObject(backend.config) ? backend.config : {}}
      path={PATH}
      errors={all}
      unread={unread}
      onUnread={onUnread}
      onChange={(config) => change({ backend: { version: 1, ...backend, config }, endpoint: undefined })}
    />
  );
};
