import { type ReactNode, useState } from 'react';
import { AccessForm, type Places } from '../../access/AccessForm.tsx';
import { ActDialog } from '../../access/ActDialog.tsx';
import { anything, isObject, type JsonObject } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { backendUrl, type Outgoing, pathOf, send } from '../../data/request.ts';
import { CopyButton } from '../../design/Copy.tsx';
import { Dialog, DialogClose } from '../../design/Dialog.tsx';
import { Notice } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { MenuItem } from '../../list/RowMenu.tsx';
import { useIsScreen } from '../../navigation/screen-paths.ts';
import { changesIn } from '../../schema-form/hints.ts';
import { accessHref } from '../access-log/access-event.ts';
import { someUsers } from '../users/user.ts';
import { ApiKey, CreatedKey, changedKeys, isActive, KEYS } from './key.ts';
import texts from './texts.json' with { type: 'json' };

/** Dialogs of keys: create, change, rotate and revoke. */

const Copied = ({ label, text }: { label: string; text: string }) => (
  <section className="stack" aria-label={label}>
    <span className="row">
      <strong>{label}</strong>
      <CopyButton text={text} />
    </span>
    <code className="mono grow">{text}</code>
  </section>
);

/** A new key, which is nowhere else: neither the service nor the console shows it again. */
const ShownKey = ({ made, onClose }: { made: CreatedKey; onClose: () => void }) => {
  const t = useTexts(texts);
  const { key, name, user } = made;
  const line = `curl ${backendUrl()}/v1/threads -H "authorization: Bearer ${key}"`;
  return (
    <Dialog title={t('shown.title', { name })} size={640} staysOnClick onClose={onClose}>
      <Notice tone="warn" title={t('shown.once')}>
        {t('shown.user', { user })}
      </Notice>
      <Copied label={t('shown.key')} text={key} />
      <Copied label={t('shown.curl')} text={line} />
      <DialogClose onClose={onClose} />
    </Dialog>
  );
};

const DAY_SECS = 86_400;

const NAME = { type: 'string', minLength: 1, maxLength: 128 };
const GRANTS = { type: 'array', items: { type: 'string' } };

const NEW = {
  type: 'object',
  required: ['name', 'life'],
  properties: {
    name: NAME,
    life: { enum: ['7', '30', '90', '365', 'never'] },
    user: { type: 'string' },
    new_user: {
      type: 'object',
      required: ['kind', 'grants'],
      properties: { kind: { enum: ['service', 'person'] }, name: { type: 'string' }, grants: GRANTS },
    },
    grants: GRANTS,
  },
};

const CHANGE = {
  type: 'object',
  required: ['name'],
  properties: { name: NAME, days: { type: 'integer', minimum: 1, maximum: 36_500 }, grants: GRANTS },
};

/** Seconds for which the previous key continues to work. */
const ROTATION = {
  type: 'object',
  required: ['grace'],
  properties: { grace: { enum: ['0', '3600', '86400', '604800'] } },
};

const NEW_UI = {
  new_user: {
    'ui:widget': 'optional',
    'ui:start': { kind: 'service', grants: ['member'] },
    kind: { 'ui:widget': 'buttons' },
    grants: { 'ui:widget': 'grants' },
  },
};

/** Messages about grants do not say whether those of the key or of the new user are meant. */
const placesInNew = ({ new_user }: JsonObject): Places => [
  [/^name /, 'name'],
  [/^new_user\.name /, 'new_user.name'],
  [/^(user |another key of)/, 'user'],
  [/^(expires_in_secs|a key that act) /, 'life'],
  [/^(grants\[|this gives )/, isObject(new_user) ? 'new_user.grants' : 'grants'],
];

const placesInChange = (): Places => [
  [/^name /, 'name'],
  [/^grants/, 'grants'],
  [/^expires_in_secs /, 'days'],
];

/** A request that creates a key, and the key, which the console shows once. */
const useMaking = (onClose: () => void) => {
  const [made, setMade] = useState<CreatedKey>();
  const make = async (path: string, body: object): Promise<undefined> => {
    setMade(await send({ method: 'POST', path, body }, CreatedKey));
    changedKeys();
  };
  return { make, shown: made && <ShownKey made={made} onClose={onClose} /> };
};

type KeyProps = { of: ApiKey; onClose: () => void };

export const NewKey = ({ user, onClose }: { user?: string | undefined; onClose: () => void }) => {
  const { make, shown } = useMaking(onClose);
  const users = useResource(someUsers).data?.items ?? [];
  if (shown) return shown;
  const known = {
    'ui:suggestions': users.map(({ id }) => id),
    'ui:enumNames': users.map(({ name = '' }) => name),
  };
  return (
    <AccessForm
      texts={texts}
      of="new"
      keyOf={(place) => `new.${place}`}
      schema={NEW}
      ui={{ ...NEW_UI, user: known }}
      start={{ life: '90', ...(user !== undefined && { user }) }}
      places={placesInNew}
      onSend={({ life, ...rest }) =>
        make(KEYS, { ...rest, expires_in_secs: life === 'never' ? null : Number(life) * DAY_SECS })
      }
      onClose={onClose}
    />
  );
};

/** Replaces a key. */
const RotateKey = ({ of: { id, name }, onClose }: KeyProps) => {
  const t = useTexts(texts);
  const { make, shown } = useMaking(onClose);
  if (shown) return shown;
  return (
    <AccessForm
      texts={texts}
      of="rotate"
      keyOf={(place) => `rotate.${place}`}
      values={{ name }}
      notice={<p>{t('rotate.text')}</p>}
      schema={ROTATION}
      start={{ grace: '86400' }}
      onSend={({ grace }) => make(pathOf`/v1/keys/${id}/rotate`, { grace_secs: Number(grace) })}
      onClose={onClose}
    />
  );
};

const changeOf = ({ id }: ApiKey, { days, ...changed }: JsonObject): Outgoing => {
  // Without grants, the form has no list; a key that had one keeps an empty list.
  const grants = 'grants' in changed && { grants: changed.grants ?? [] };
  const life = typeof days === 'number' && { expires_in_secs: days * DAY_SECS };
  return { method: 'PATCH', path: pathOf`/v1/keys/${id}`, body: { ...changed, ...grants, ...life } };
};

/** Renames a key, takes grants or shortens its life. */
const EditKey = ({ of, onClose }: KeyProps) => {
  const t = useTexts(texts);
  const before: JsonObject = { name: of.name, ...(of.grants && { grants: of.grants }) };
  const save = async (draft: JsonObject): Promise<string> => {
    await send(changeOf(of, changesIn(before, draft)), ApiKey);
    changedKeys();
    return t('edit.done', { name: String(draft.name) });
  };
  return (
    <AccessForm
      texts={texts}
      of="edit"
      keyOf={(place) => `edit.${place}`}
      values={{ name: of.name }}
      words={(place) => (place === 'grants.none' && !of.grants ? t('new.grants.none') : undefined)}
      schema={CHANGE}
      start={before}
      places={placesInChange}
      onSend={save}
      onClose={onClose}
    />
  );
};

const RevokeKey = ({ of: { id, name, hint }, onClose }: KeyProps) => {
  const act = async (): Promise<void> => {
    await send({ method: 'DELETE', path: pathOf`/v1/keys/${id}` }, anything);
    changedKeys();
  };
  return <ActDialog texts={texts} of="revoke" values={{ name, hint }} act={act} onClose={onClose} />;
};

const KEY_DIALOGS = { edit: EditKey, rotate: RotateKey, revoke: RevokeKey } as const;

/** The menu of a key, and the dialog of the chosen action. */
export const useKeyActions = (): { menu: (key: ApiKey) => MenuItem[]; dialog: ReactNode } => {
  const t = useTexts(texts);
  const isScreen = useIsScreen();
  const [opened, open] = useState<{ of: ApiKey; what: keyof typeof KEY_DIALOGS }>();
  const Shown = opened && KEY_DIALOGS[opened.what];
  return {
    menu: (of) => {
      const { id } = of;
      const opens = (what: keyof typeof KEY_DIALOGS) => ({
        label: t(`menu.${what}`),
        isOff: !isActive(of),
        act: () => open({ of, what }),
      });
      const changes = `/audit-log?resource=${encodeURIComponent(`keys/${id}`)}`;
      return [
        { ...opens('edit'), icon: 'edit' },
        { ...opens('rotate'), icon: 'refresh' },
        ...(isScreen('/access-log')
          ? [{ label: t('menu.access'), icon: 'accessLog', act: accessHref({ credential: id }) } as const]
          : []),
        { label: t('menu.changes'), icon: 'history', act: changes },
        { ...opens('revoke'), icon: 'trash', tone: 'danger' },
      ];
    },
    dialog: Shown && <Shown of={opened.of} onClose={() => open(undefined)} />,
  };
};
