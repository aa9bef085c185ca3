import { useMemo, useState } from 'react';
import { list, object, optional, text, withDefault } from '../../../data/guard.ts';
import { useResource } from '../../../data/queries.ts';
import { recordsOf } from '../../../data/records.ts';
import { Chip } from '../../../design/Chip.tsx';
import { boxLook, controlLook } from '../../../design/Field.tsx';
import { Card } from '../../../design/Layout.tsx';
import { EmptyState, Notice } from '../../../design/Notice.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { textsOf } from '../draft.ts';
import { Resettable } from '../Overridden.tsx';
import type { PanelProps } from '../panel.ts';
import { cycleThrough } from './delegation.ts';
import css from './References.module.css';
import { texts } from './texts.ts';

/** Other agents that this one may call as tools. */

const AGENTS = recordsOf(
  'agents',
  object({ id: text, description: optional(text), delegates: withDefault(list(text), []) }),
);

type Choice = { id: string; about: string; state: 'known' | 'remote' | 'gone' };

const useChoices = ({ draft, capabilities }: PanelProps) => {
  const records = useResource(AGENTS).data;
  return useMemo(() => {
    const about = new Map(records?.map(({ id, description }) => [id, description ?? '']));
    const known = capabilities.agents.filter((id) => id !== draft.id);
    const gone = textsOf(draft.delegates).filter((id) => !capabilities.agents.includes(id));
    const choices: Choice[] = [
      ...known.map(
        (id): Choice => ({ id, about: about.get(id) ?? '', state: id.includes('/') ? 'remote' : 'known' }),
      ),
      ...gone.map((id): Choice => ({ id, about: '', state: 'gone' })),
    ];
    const others = new Map(records?.map(({ id, delegates }) => [id, delegates]));
    return { choices, others };
  }, [records, capabilities, draft.id, draft.delegates]);
};

const Row = (props: { choice: Choice; isChosen: boolean; onChange: (wanted: boolean) => void }) => {
  const t = useTexts(texts);
  const { id, about, state } = props.choice;
  return (
    <li>
      <label className={css.row}>
        <input
          type="checkbox"
          className={boxLook}
          checked={props.isChosen}
          onChange={(event) => props.onChange(event.target.checked)}
        />
        <span className={css.mono}>{id}</span>
        {state === 'remote' && <Chip tone="agent">{t('remote')}</Chip>}
        {state === 'gone' && <Chip tone="error">{t('gone')}</Chip>}
        <span className={css.about}>
          {about || (props.isChosen && state === 'known' ? t('noDescription') : '')}
        </span>
      </label>
    </li>
  );
};

export const Delegates = (props: PanelProps) => {
  const t = useTexts(texts);
  const { draft, change, errors } = props;
  const [search, find] = useState('');
  const { choices, others } = useChoices(props);
  const chosen = textsOf(draft.delegates);
  const cycle = cycleThrough(draft.id, chosen, others);
  const toggle = (id: string, wanted: boolean): void => {
    const rest = chosen.filter((other) => other !== id);
    change({ delegates: wanted ? [...rest, id] : rest });
  };
  const shown = choices.filter(({ id, about }) =>
    `${id} ${about}`.toLowerCase().includes(search.toLowerCase()),
  );
  return (
    <>
      {errors.has('delegates') && <Notice tone="error" title={errors.get('delegates') ?? ''} />}
      {cycle && (
        <Notice tone="warn" title={t('cycle')}>
          <span className={css.mono}>{cycle.join(' → ')}</span>
        </Notice>
      )}
      <Resettable field="delegates">
        <Card
          title={t('delegates')}
          note={t('delegates.count', { count: chosen.length })}
          flush
          actions={
            <input
              type="search"
              className={`${controlLook} ${css.search}`}
              placeholder={t('search')}
              aria-label={t('search')}
              value={search}
              onChange={(event) => find(event.target.value)}
            />
          }
        >
          <p className={css.note}>{t('delegates.text')}</p>
          {choices.length === 0 && <EmptyState title={t('delegates.none')} />}
          <ul className={css.rows}>
            {shown.map((choice) => (
              <Row
                key={choice.id}
                choice={choice}
                isChosen={chosen.includes(choice.id)}
                onChange={(wanted) => toggle(choice.id, wanted)}
              />
            ))}
          </ul>
        </Card>
      </Resettable>
    </>
  );
};
