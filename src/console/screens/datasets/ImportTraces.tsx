import { useMemo, useState } from 'react';
import { type JsonObject, number, object } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { toast } from '../../feedback/toasts.ts';
import { RequestDialog } from '../../fixtures/RequestDialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { wordsFrom } from '../../schema-form/hints.ts';
import texts from './texts.json' with { type: 'json' };
import { importInto } from './write.ts';

const AGENTS = recordsOf('agents', NamedRecord);

const Imported = object({ imported_count: number, skipped_count: number });

export const ImportTraces = (props: { id: string; revision: number; onClose: () => void }) => {
  const t = useTexts(texts);
  const agents = useResource(AGENTS).data ?? [];
  const [draft, setDraft] = useState<JsonObject>({ max_count: 20, skip_uncuratable: true });
  return (
    <RequestDialog
      title={t('traces.title')}
      submit={t('import')}
      schema={{
        type: 'object',
        required: ['max_count', 'phrase'],
        properties: {
          agent_id: { enum: agents.map(({ id }) => id) },
          max_count: { type: 'integer', minimum: 1 },
          skip_uncuratable: { type: 'boolean' },
          phrase: { type: 'string', minLength: 1 },
        },
      }}
      words={useMemo(() => wordsFrom(t, texts, (place) => `traces.${place}`), [t])}
      value={draft}
      onChange={setDraft}
      onSubmit={async () => {
        const found = await importInto(props, 'import-traces', draft, Imported);
        toast('success', t('traces.done', { imported: found.imported_count, skipped: found.skipped_count }));
        return undefined;
      }}
      onClose={props.onClose}
    />
  );
};
