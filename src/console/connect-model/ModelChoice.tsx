import { useState } from 'react';
import { useResource } from '../data/queries.ts';
import { NamedRecord, recordsOf } from '../data/records.ts';
import { Button } from '../design/Button.tsx';
import { CheckField, Field } from '../design/Field.tsx';
import { Notice } from '../design/Notice.tsx';
import shared from '../entry/Entry.module.css';
import { ID } from '../entry/entry.ts';
import { freeId } from '../entry/free-id.ts';
import { useTexts } from '../i18n/locale.ts';
import type { Adapter } from './adapters.ts';
import type { ConnectedModel } from './Connected.tsx';
import css from './ConnectModel.module.css';
import { type Ids, idFrom, PARTS, type Part } from './connect.ts';
import { ModelList } from './ModelList.tsx';
import { texts } from './texts.ts';
import type { Attempt, Connecting } from './use-connecting.ts';
import type { Candidate, Offered } from './use-preview.ts';

const PROVIDERS = recordsOf('providers', NamedRecord);
const MODELS = recordsOf('models', NamedRecord);
const POOLS = recordsOf('model-pools', NamedRecord);
const AGENTS = recordsOf('agents', NamedRecord);

const NONE: readonly NamedRecord[] = [];

/** Free ids made from the names of the provider and of the model. */
const useFreeIds = (adapter: Adapter, upstream: string): Ids => {
  const providers = useResource(PROVIDERS).data ?? NONE;
  const models = useResource(MODELS).data ?? NONE;
  const pools = useResource(POOLS).data ?? NONE;
  const agents = useResource(AGENTS).data ?? NONE;
  const idsOf = (records: readonly NamedRecord[]) => new Set(records.map(({ id }) => id));
  const id = idFrom(upstream);
  return {
    providers: freeId(idFrom(adapter.name), idsOf(providers)),
    models: freeId(id, idsOf([...models, ...pools])),
    agents: freeId(id, idsOf(agents)),
  };
};

const IdFields = (props: {
  ids: Ids;
  parts: readonly Part[];
  created: ReadonlySet<Part>;
  onChange: (part: Part, id: string) => void;
}) => {
  const t = useTexts(texts);
  return (
    <details className={css.advanced}>
      <summary>{t('advanced')}</summary>
      <div className={css.ids}>
        {props.parts.map((part) => (
          <Field
            key={part}
            label={t(`id.${part}`)}
            error={ID.test(props.ids[part]) ? undefined : t('id.hint')}
          >
            {(control) => (
              <input
                {...control}
                type="text"
                value={props.ids[part]}
                disabled={props.created.has(part)}
                onChange={({ target }) => props.onChange(part, target.value)}
              />
            )}
          </Field>
        ))}
      </div>
    </details>
  );
};

const Failure = ({ attempt, candidate }: { attempt: Attempt; candidate: Candidate }) => {
  const t = useTexts(texts);
  const { failure, created, ids } = attempt;
  if (failure?.candidate !== candidate) return null;
  const { reason } = failure;
  const names = PARTS.filter((part) => created.has(part)).map((part) =>
    t(`part.${part}`, { id: ids[part] ?? '' }),
  );
  const title =
    names.length === 0
      ? t('failed.none', { reason })
      : t('failed.some', { created: names.join(', '), reason });
  return <Notice tone="error" title={title} />;
};

/** The choice of a model, and the button that creates everything. */
export const ModelChoice = (props: {
  adapter: Adapter;
  candidate: Candidate;
  models: readonly Offered[];
  connecting: Connecting;
  onConnected: (model: ConnectedModel) => void;
}) => {
  const t = useTexts(texts);
  const { adapter, candidate } = props;
  const { attempt, start } = props.connecting;
  const [upstream, setUpstream] = useState('');
  const [wantsAgent, setWantsAgent] = useState(true);
  const [edited, setEdited] = useState<Partial<Ids>>({});
  const { created, isBusy } = attempt;
  const free = { ...useFreeIds(adapter, upstream), ...edited };
  const idFor = (part: Part): string => (created.has(part) ? (attempt.ids[part] ?? free[part]) : free[part]);
  const ids: Ids = { providers: idFor('providers'), models: idFor('models'), agents: idFor('agents') };
  const parts = PARTS.filter((part) => part !== 'agents' || wantsAgent);
  const isReady = upstream !== '' && parts.every((part) => ID.test(ids[part]));
  const connect = async (): Promise<void> => {
    const prompt = wantsAgent ? t('agent.prompt') : undefined;
    if (!(await start({ candidate, upstream, ids, prompt }))) return;
    const names = parts.map((part) => t(`part.${part}`, { id: ids[part] }));
    props.onConnected({
      upstream,
      created: names,
      agent: wantsAgent ? ids.agents : undefined,
      model: ids.models,
    });
  };
  return (
    <>
      <ModelList
        name={adapter.name}
        models={props.models}
        value={upstream}
        disabled={isBusy || created.has('models')}
        onChange={setUpstream}
      />
      <CheckField label={t('agent')} checked={wantsAgent} disabled={isBusy} onChange={setWantsAgent} />
      <IdFields
        ids={ids}
        parts={parts}
        created={created}
        onChange={(part, id) => setEdited({ ...edited, [part]: id })}
      />
      <Failure attempt={attempt} candidate={candidate} />
      <div className={shared.row}>
        <Button tone="primary" disabled={!isReady || isBusy} onClick={() => void connect()}>
          {t(isBusy ? 'busy' : created.size > 0 ? 'failed.continue' : 'connect')}
        </Button>
      </div>
    </>
  );
};
