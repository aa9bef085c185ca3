import { useMemo, useState } from 'react';
import { list, object, optional, text, withDefault } from '../../../data/guard.ts';
import { useResource } from '../../../data/queries.ts';
import { recordsOf } from '../../../data/records.ts';
import { useIsOffered } from '../../../data/test-agents.ts';
import { Chip } from '../../../design/Chip.tsx';
import { Card } from '../../../design/Layout.tsx';
import { EmptyState, Notice } from '../../../design/Notice.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { type SeenProps, useForm } from '../../../schema-form/context.ts';
import { useAgent } from '../agent-form.ts';
import { textsOf } from '../draft.ts';
import { Picks, picked } from '../Picks.tsx';
import { SearchInput } from '../SearchInput.tsx';
import { cycleThrough } from './references.ts';
import texts from './texts.json' with { type: 'json' };

const AGENTS = recordsOf(
  'agents',
  object({ id: text, description: optional(text), delegates: withDefault(list(text), []) }),
);

/** A widget for the other agents that this one may call as tools. */
export default function Delegates({ path, value, onChange }: SeenProps) {
  const t = useTexts(texts);
  const { form, capabilities } = useAgent();
  const { draft } = form;
  const error = useForm().errors.get(path);
  const isOffered = useIsOffered();
  const [search, find] = useState('');
  const records = useResource(AGENTS).data;
  const about = useMemo(() => new Map(records?.map((agent) => [agent.id, agent.description])), [records]);
  const others = useMemo(() => new Map(records?.map(({ id, delegates }) => [id, delegates])), [records]);
  const chosen = textsOf(value);
  const cycle = cycleThrough(draft.id, chosen, others);
  const gone = chosen.filter((id) => !capabilities.agents.includes(id));
  const offered = capabilities.agents.filter(
    (id) => id !== draft.id && (isOffered(id) || chosen.includes(id)),
  );
  const ids = [...offered, ...gone];
  const marksOf = (id: string) => {
    if (gone.includes(id)) return <Chip tone="error">{t('gone')}</Chip>;
    return id.includes('/') && <Chip tone="agent">{t('remote')}</Chip>;
  };
  const picks = ids
    .filter((id) => `${id} ${about.get(id) ?? ''}`.toLowerCase().includes(search.toLowerCase()))
    .map((id) => ({
      id,
      about: about.get(id) || (about.has(id) && chosen.includes(id) ? t('noDescription') : ''),
      isPicked: chosen.includes(id),
      marks: marksOf(id),
    }));
  return (
    <>
      {error !== undefined && <Notice tone="error" title={error} />}
      {cycle && (
        <Notice tone="warn" title={t('cycle')}>
          <span className="mono">{cycle.join(' → ')}</span>
        </Notice>
      )}
      <Card
        title={t('delegates')}
        note={t('delegates.count', { count: chosen.length })}
        flush
        actions={<SearchInput label={t('search')} value={search} onChange={find} />}
      >
        <p className="soft inset">{t('delegates.text')}</p>
        {ids.length === 0 && <EmptyState title={t('delegates.none')} />}
        <Picks picks={picks} onPick={(id, isPicked) => onChange(picked(chosen, id, isPicked))} />
      </Card>
    </>
  );
}
