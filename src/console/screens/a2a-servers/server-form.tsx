import { type EntryDescriptor, useEntryForm } from '../../entry/EntryFields.tsx';
import { SecretField } from '../../entry/SecretField.tsx';
import type { SeenProps } from '../../schema-form/context.ts';
import { authOf, tokenOf } from './a2a-server.ts';
import texts from './texts.json' with { type: 'json' };

const Token = ({ label, onChange }: SeenProps) => {
  const form = useEntryForm();
  const isStored = form.opened.start.has_auth === true;
  return (
    <SecretField
      title={label}
      isStored={isStored}
      value={tokenOf(form.draft)}
      onChange={(token) => onChange(authOf(token, isStored))}
      error={form.errors.get('auth')}
    />
  );
};

export const SERVER: EntryDescriptor = {
  namespace: 'a2a-servers',
  entity: 'entity.a2aServer',
  texts,
  start: { id: '', base_url: '' },
  fields: () => ['id', 'base_url', 'auth', 'auth_origins', 'timeout_ms', 'target', 'options'],
  ui: { auth: { 'ui:widget': 'token' }, base_url: { 'ui:placeholder': 'https://' } },
  widgets: { token: Token },
};
