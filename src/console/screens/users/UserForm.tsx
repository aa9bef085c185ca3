import { useMemo, useState } from 'react';
import { GrantsField } from '../../access/GrantsField.tsx';
import { type Places, refusedFields } from '../../access/refusal.ts';
import type { JsonObject } from '../../data/guard.ts';
import { pathOf, send } from '../../data/request.ts';
import { toast } from '../../feedback/toasts.ts';
import { RequestDialog } from '../../fixtures/RequestDialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { changesIn, wordsFrom } from '../../schema-form/hints.ts';
import { texts } from './texts.ts';
import { changedUsers, USERS, User } from './user.ts';

/** Creates and changes users. */

const FIELDS = {
  name: { type: 'string' },
  email: { type: 'string', format: 'email' },
  grants: { type: 'array', items: { type: 'string' } },
};

const NEW = {
  type: 'object',
  required: ['id', 'kind', 'grants'],
  properties: {
    id: { type: 'string', minLength: 1 },
    kind: { enum: ['person', 'service'] },
    ...FIELDS,
    pending: { type: 'boolean' },
  },
};

const CHANGE = { type: 'object', required: ['grants'], properties: FIELDS };

const UI = { kind: { 'ui:widget': 'buttons' }, grants: { 'ui:widget': 'grants' } };
const WIDGETS = { grants: GrantsField };

const PLACES: Places = [
  [/^user (id|already)/, 'id'],
  [/^name /, 'name'],
  [/^email /, 'email'],
  [/^(grants\[|this gives )/, 'grants'],
];

const useWords = () => {
  const t = useTexts(texts);
  return useMemo(() => wordsFrom(t, texts, (place) => `field.${place}`), [t]);
};

const SHARED = { ui: UI, widgets: WIDGETS } as const;

export const NewUser = (props: { onMade: (id: string) => void; onClose: () => void }) => {
  const t = useTexts(texts);
  const words = useWords();
  const [draft, setDraft] = useState<JsonObject>({ kind: 'person', grants: ['member'] });
  const create = async (): Promise<ReadonlyMap<string, string> | undefined> => {
    const { pending, ...rest } = draft;
    try {
      const body = { ...rest, ...(pending === true && { identity: 'pending' }) };
      const { id } = await send({ method: 'POST', path: USERS, body }, User);
      changedUsers();
      toast('success', t('new.done', { id }));
      props.onMade(id);
      return undefined;
    } catch (error) {
      return refusedFields(error, PLACES);
    }
  };
  return (
    <RequestDialog
      title={t('new.title')}
      submit={t('new.create')}
      {...SHARED}
      schema={NEW}
      words={words}
      value={draft}
      onChange={setDraft}
      onSubmit={create}
      onClose={props.onClose}
    />
  );
};

export const EditUser = ({ user, onClose }: { user: User; onClose: () => void }) => {
  const t = useTexts(texts);
  const words = useWords();
  const { id, name, email, grants } = user;
  const before: JsonObject = { grants, ...(name && { name }), ...(email && { email }) };
  const [draft, setDraft] = useState(before);
  const save = async (): Promise<ReadonlyMap<string, string> | undefined> => {
    const changes = Object.entries(changesIn(before, draft));
    try {
      // Null removes a field.
      const body = Object.fromEntries(changes.map(([field, value]) => [field, value ?? null]));
      await send({ method: 'PATCH', path: pathOf`/v1/users/${id}`, body }, User);
    } catch (error) {
      return refusedFields(error, PLACES);
    }
    changedUsers();
    toast('success', t('edit.done', { id }));
    return undefined;
  };
  return (
    <RequestDialog
      title={t('edit.title', { id })}
      submit={t('edit.save')}
      {...SHARED}
      schema={CHANGE}
      words={words}
      value={draft}
      onChange={setDraft}
      onSubmit={save}
      onClose={onClose}
    />
  );
};
