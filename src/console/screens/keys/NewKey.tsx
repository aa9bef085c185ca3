import { useMemo, useState } from 'react';
import { GrantsField } from '../../access/GrantsField.tsx';
import { type Places, refusedFields } from '../../access/refusal.ts';
import { isObject, type JsonObject } from '../../data/guard.ts';
import { send } from '../../data/request.ts';
import { RequestDialog } from '../../fixtures/RequestDialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { wordsFrom } from '../../schema-form/hints.ts';
import { CreatedKey, changedKeys, KEYS } from './key.ts';
import { ShownKey } from './ShownKey.tsx';
import { texts } from './texts.ts';
import { UserField } from './UserField.tsx';

const GRANTS = { type: 'array', items: { type: 'string' } };

const DAY_SECS = 86_400;
const LIVES = ['7', '30', '90', '365', 'never'] as const;

const NEW = {
  type: 'object',
  required: ['name', 'life'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 128 },
    life: { enum: LIVES },
    user: { type: 'string' },
    new_user: {
      type: 'object',
      required: ['kind', 'grants'],
      properties: { kind: { enum: ['service', 'person'] }, name: { type: 'string' }, grants: GRANTS },
    },
    grants: GRANTS,
  },
};

const UI = {
  user: { 'ui:widget': 'user' },
  new_user: {
    'ui:widget': 'optional',
    'ui:start': { kind: 'service', grants: ['member'] },
    kind: { 'ui:widget': 'buttons' },
    grants: { 'ui:widget': 'grants' },
  },
  grants: { 'ui:widget': 'grants' },
};

const WIDGETS = { grants: GrantsField, user: UserField };

const PLACES: Places = [
  [/^name /, 'name'],
  [/^new_user\.name /, 'new_user.name'],
  [/^(user |another key of)/, 'user'],
  [/^(expires_in_secs|a key that act) /, 'life'],
];

/** Messages about grants do not say whether those of the key or of the new user are meant. */
const placesFor = ({ new_user }: JsonObject): Places => [
  ...PLACES,
  [/^(grants\[|this gives )/, isObject(new_user) ? 'new_user.grants' : 'grants'],
];

const bodyOf = ({ life, ...rest }: JsonObject): JsonObject => ({
  ...rest,
  expires_in_secs: life === 'never' ? null : Number(life) * DAY_SECS,
});

/** Creates a key and shows it once. */
export const NewKey = ({ user, onClose }: { user?: string | undefined; onClose: () => void }) => {
  const t = useTexts(texts);
  const [draft, setDraft] = useState<JsonObject>({ life: '90', ...(user !== undefined && { user }) });
  const [made, setMade] = useState<CreatedKey>();
  const create = async (): Promise<ReadonlyMap<string, string>> => {
    try {
      setMade(await send({ method: 'POST', path: KEYS, body: bodyOf(draft) }, CreatedKey));
      changedKeys();
      return new Map();
    } catch (error) {
      return refusedFields(error, placesFor(draft));
    }
  };
  const words = useMemo(() => wordsFrom(t, texts, (place) => `new.${place}`), [t]);
  if (made) return <ShownKey made={made} onClose={onClose} />;
  return (
    <RequestDialog
      title={t('new.title')}
      submit={t('new.create')}
      schema={NEW}
      ui={UI}
      widgets={WIDGETS}
      words={words}
      value={draft}
      onChange={setDraft}
      onSubmit={create}
      onClose={onClose}
    />
  );
};
