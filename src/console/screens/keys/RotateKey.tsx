import { useMemo, useState } from 'react';
import { refusedFields } from '../../access/refusal.ts';
import type { JsonObject } from '../../data/guard.ts';
import { pathOf, send } from '../../data/request.ts';
import { RequestDialog } from '../../fixtures/RequestDialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { wordsFrom } from '../../schema-form/hints.ts';
import { type ApiKey, CreatedKey, changedKeys } from './key.ts';
import { ShownKey } from './ShownKey.tsx';
import { texts } from './texts.ts';

/** Seconds for which the previous key continues to work. */
const SCHEMA = {
  type: 'object',
  required: ['grace'],
  properties: { grace: { enum: ['0', '3600', '86400', '604800'] } },
};

/** Replaces a key, and shows the new one once. */
export const RotateKey = ({ of, onClose }: { of: ApiKey; onClose: () => void }) => {
  const t = useTexts(texts);
  const [draft, setDraft] = useState<JsonObject>({ grace: '86400' });
  const [made, setMade] = useState<CreatedKey>();
  const rotate = async (): Promise<ReadonlyMap<string, string>> => {
    try {
      const body = { grace_secs: Number(draft.grace) };
      setMade(await send({ method: 'POST', path: pathOf`/v1/keys/${of.id}/rotate`, body }, CreatedKey));
      changedKeys();
      return new Map();
    } catch (error) {
      return refusedFields(error, []);
    }
  };
  const words = useMemo(() => wordsFrom(t, texts, (place) => `rotate.${place}`), [t]);
  if (made) return <ShownKey made={made} onClose={onClose} />;
  return (
    <RequestDialog
      title={t('rotate.title', { name: of.name })}
      submit={t('rotate.confirm')}
      notice={<p>{t('rotate.text')}</p>}
      schema={SCHEMA}
      words={words}
      value={draft}
      onChange={setDraft}
      onSubmit={rotate}
      onClose={onClose}
    />
  );
};
