import { useState } from 'react';
import { number, object } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { CheckField, Field } from '../../design/Field.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ImportForm } from './ImportForm.tsx';
import { texts } from './texts.ts';

const AGENTS = recordsOf('agents', NamedRecord);

const Imported = object({ imported_count: number, skipped_count: number });

export const ImportTraces = ({
  id,
  revision,
  onClose,
}: {
  id: string;
  revision: number;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const agents = useResource(AGENTS).data ?? [];
  const [agent, setAgent] = useState('');
  const [count, setCount] = useState(20);
  const [isSkipping, skip] = useState(true);
  return (
    <ImportForm
      title={t('traces.title')}
      dataset={id}
      revision={revision}
      from="import-traces"
      body={{ max_count: count, skip_uncuratable: isSkipping, ...(agent && { agent_id: agent }) }}
      isReady
      guard={Imported}
      said={({ imported_count: imported, skipped_count: skipped }) => t('traces.done', { imported, skipped })}
      onClose={onClose}
    >
      <Field label={t('traces.agent')}>
        {(control) => (
          <select {...control} value={agent} onChange={({ target }) => setAgent(target.value)}>
            <option value="">{t('traces.any')}</option>
            {agents.map((one) => (
              <option key={one.id} value={one.id}>
                {one.id}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t('traces.count')}>
        {(control) => (
          <input
            {...control}
            type="number"
            min={1}
            value={count}
            onChange={({ target }) => setCount(Math.max(1, Math.trunc(Number(target.value)) || 1))}
          />
        )}
      </Field>
      <CheckField label={t('traces.skip')} checked={isSkipping} onChange={skip} />
    </ImportForm>
  );
};
