import { useState } from 'react';
import { AccessForm, type Places } from '../../access/AccessForm.tsx';
import { ActDialog } from '../../access/ActDialog.tsx';
import { anything, type JsonObject } from '../../data/guard.ts';
import { invalidate } from '../../data/queries.ts';
import { type Outgoing, pathOf, send } from '../../data/request.ts';
import { SelectField } from '../../design/Inputs.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useGo } from '../../navigation/links.tsx';
import { changesIn } from '../../schema-form/hints.ts';
import texts from './texts.json' with { type: 'json' };
import { changedUsers, USERS, User } from './user.ts';

/** Dialogs of users: create, change, disable, enable, sign out and delete. */

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

const places = (): Places => [
  [/^user (id|already)/, 'id'],
  [/^name /, 'name'],
  [/^email /, 'email'],
  [/^(grants\[|this gives )/, 'grants'],
];

const FORM = { texts, places, keyOf: (place: string) => `field.${place}` } as const;

export const NewUser = (props: { onMade: (id: string) => void; onClose: () => void }) => {
  const t = useTexts(texts);
  const create = async ({ pending, ...rest }: JsonObject): Promise<string> => {
    const body = { ...rest, ...(pending === true && { identity: 'pending' }) };
    const { id } = await send({ method: 'POST', path: USERS, body }, User);
    changedUsers();
    props.onMade(id);
    return t('new.done', { id });
  };
  const start = { kind: 'person', grants: ['member'] };
  return <AccessForm {...FORM} of="new" schema={NEW} start={start} onSend={create} onClose={props.onClose} />;
};

type ActProps = { user: User; onClose: () => void };

const EditUser = ({ user, onClose }: ActProps) => {
  const t = useTexts(texts);
  const { id, name, email, grants } = user;
  const before: JsonObject = { grants, ...(name && { name }), ...(email && { email }) };
  const save = async (draft: JsonObject): Promise<string> => {
    const changes = Object.entries(changesIn(before, draft));
    // Null removes a field.
    const body = Object.fromEntries(changes.map(([field, value]) => [field, value ?? null]));
    await send({ method: 'PATCH', path: pathOf`/v1/users/${id}`, body }, User);
    changedUsers();
    return t('edit.done', { id });
  };
  return (
    <AccessForm
      {...FORM}
      of="edit"
      values={{ id }}
      schema={CHANGE}
      start={before}
      onSend={save}
      onClose={onClose}
    />
  );
};

const change = async (outgoing: Outgoing): Promise<void> => {
  await send(outgoing, anything);
  changedUsers();
};

const DisableUser = ({ user: { id, disabled }, onClose }: ActProps) => (
  <ActDialog
    texts={texts}
    of={disabled ? 'enable' : 'disable'}
    values={{ id }}
    tone={disabled ? 'primary' : 'danger'}
    act={() => change({ method: 'PATCH', path: pathOf`/v1/users/${id}`, body: { disabled: !disabled } })}
    onClose={onClose}
  />
);

const SignOutUser = ({ user: { id }, onClose }: ActProps) => {
  const act = () => change({ method: 'POST', path: pathOf`/v1/users/${id}/sign-out` });
  return <ActDialog texts={texts} of="signOut" values={{ id }} act={act} onClose={onClose} />;
};

const OF_THREADS = ['keep', 'delete'] as const;

/** Asks what happens to the threads of the user. Their deletion has to be typed. */
const DeleteUser = ({ user: { id }, onClose }: ActProps) => {
  const t = useTexts(texts);
  const go = useGo();
  const [threads, setThreads] = useState<string>('keep');
  const act = async (): Promise<void> => {
    await send({ method: 'DELETE', path: pathOf`/v1/users/${id}`, query: { threads } }, anything);
    go('/users');
    // A read of the deleted user itself would fail.
    setTimeout(() => {
      changedUsers();
      invalidate('/v1/threads');
    });
  };
  return (
    <ActDialog
      texts={texts}
      of="delete"
      values={{ id }}
      typed={threads === 'delete' ? id : undefined}
      act={act}
      onClose={onClose}
    >
      <SelectField
        label={t('delete.threads')}
        hint={t(threads === 'delete' ? 'delete.deleteNote' : 'delete.keepNote')}
        value={threads}
        options={OF_THREADS.map((each) => [each, t(`delete.threads.${each}`)] as const)}
        onChange={setThreads}
      />
    </ActDialog>
  );
};

export const USER_DIALOGS = {
  edit: EditUser,
  disable: DisableUser,
  signOut: SignOutUser,
  delete: DeleteUser,
} as const;
