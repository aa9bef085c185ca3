import { useMemo, useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { anything, type JsonObject } from '../../data/guard.ts';
import { send } from '../../data/request.ts';
import { ID } from '../../entry/entry.ts';
import { toast } from '../../feedback/toasts.ts';
import { RequestDialog } from '../../fixtures/RequestDialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useGo } from '../../navigation/links.tsx';
import { wordsFrom } from '../../schema-form/hints.ts';
import texts from './texts.json' with { type: 'json' };
import { changedDatasets } from './write.ts';

const NEW = {
  type: 'object',
  required: ['id'],
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 128, pattern: ID.source },
    description: { type: 'string' },
  },
};

export const NewDialog = ({ onClose }: { onClose: () => void }) => {
  const t = useTexts(texts);
  const go = useGo();
  const [draft, setDraft] = useState<JsonObject>({});
  const create = async (): Promise<ReadonlyMap<string, string> | undefined> => {
    const { id, description = '' } = draft;
    try {
      const body = { id, spec: { description, fixtures: [] } };
      await send({ method: 'POST', path: '/v1/eval/datasets', body }, anything);
    } catch (failure) {
      if (statusOf(failure) === 409 && failure instanceof Error) return new Map([['id', failure.message]]);
      throw failure;
    }
    toast('success', t('created', { id: String(id) }));
    changedDatasets();
    go(`/datasets/${encodeURIComponent(String(id))}`);
    return undefined;
  };
  return (
    <RequestDialog
      title={t('new.title')}
      submit={t('new.create')}
      schema={NEW}
      words={useMemo(() => wordsFrom(t, texts, (place) => `new.${place}`), [t])}
      value={draft}
      onChange={setDraft}
      onSubmit={create}
      onClose={onClose}
    />
  );
};
