import { useRef, useState } from 'react';
import type { JsonObject } from '../data/guard.ts';
import { useResource } from '../data/queries.ts';
import { idsOf, type Namespace } from '../data/records.ts';
import { Button } from '../design/Button.tsx';
import { Notice } from '../design/Notice.tsx';
import { ID } from '../entry/entry.ts';
import entryTexts from '../entry/texts.json' with { type: 'json' };
import { useTexts } from '../i18n/locale.ts';
import { changesIn } from '../schema-form/hints.ts';
import { SchemaForm } from '../schema-form/SchemaForm.tsx';
import type { Adapter } from './adapters.ts';
import { useNames } from './Connected.tsx';
import css from './ConnectModel.module.css';
import { connect, type Item, isSame, type Outcome, type Plan, withIds } from './connect.ts';
import { ModelList } from './ModelList.tsx';
import texts from './texts.json' with { type: 'json' };
import type { Candidate, Offered } from './use-preview.ts';

type Attempt = Outcome & { isBusy: boolean; plan?: Plan };

/** Connects models; another attempt creates the entries that are missing. */
export const useConnecting = () => {
  const [attempt, setAttempt] = useState<Attempt>({ isBusy: false, created: [], failed: [] });
  // A second click arrives before the button is disabled.
  const isBusy = useRef(false);
  const start = async (plan: Plan): Promise<Outcome | undefined> => {
    if (isBusy.current) return undefined;
    isBusy.current = true;
    setAttempt({ created: attempt.created, failed: [], isBusy: true, plan });
    const outcome = await connect(plan, attempt.created);
    setAttempt({ ...outcome, isBusy: false, plan });
    isBusy.current = false;
    return outcome;
  };
  return { attempt, start };
};

type Connecting = ReturnType<typeof useConnecting>;

/** Ids that entries have. Models and pools share their ids. */
const useTaken = () => ({
  providers: useIds('providers'),
  models: [...useIds('models'), ...useIds('model-pools')],
  agents: useIds('agents'),
});

const useIds = (namespace: Namespace): string[] => useResource(idsOf(namespace)).data ?? [];

/** The field of the id of an entry. Names of models contain points, which separate the parts of a path. */
const fieldOf = ({ part, name }: Omit<Item, 'id'>): string => `${part} ${name}.id`;

/** Whether an agent is created, which model it uses, and the ids of all entries. */
const Settings = (props: {
  value: JsonObject;
  /** The models that the agent can use. */
  models: readonly string[];
  items: readonly Item[];
  isFixed: (item: Item) => boolean;
  onChange: (changes: JsonObject) => void;
}) => {
  const t = useTexts(texts);
  const problem = useTexts(entryTexts);
  const { items, models } = props;
  const ids = items.map(fieldOf);
  const withField = <Value,>(contentOf: (item: Item) => Value): Record<string, Value> =>
    Object.fromEntries(items.map((item) => [fieldOf(item), contentOf(item)]));
  const agent = items.find(({ part }) => part === 'agents');
  const value = { ...props.value, ...withField(({ id }) => id), model: agent?.name };
  // The created agent stays, and no second one is created for another model.
  const ofAgent = { 'ui:readonly': agent !== undefined && props.isFixed(agent) };
  return (
    <SchemaForm
      label={t('advanced')}
      schema={{
        type: 'object',
        properties: {
          agent: { type: 'boolean', title: t('agent') },
          model: { enum: models, title: t('agent.model') },
          ...withField(({ part, name }) => ({ type: 'string', title: t(`id.${part}`, { name }) })),
        },
        required: ['model', ...ids],
      }}
      value={value}
      ui={{
        agent: ofAgent,
        model: ofAgent,
        ...withField((item) => ({ 'ui:readonly': props.isFixed(item) })),
      }}
      errors={
        new Map(items.filter(({ id }) => !ID.test(id)).map((item) => [fieldOf(item), problem('problem.id')]))
      }
      fields={[
        'agent',
        ...(agent && models.length > 1 ? ['model'] : []),
        { title: t('advanced'), fields: ids, isClosed: true },
      ]}
      onChange={(next) => props.onChange(changesIn(value, next))}
    />
  );
};

const Failure = ({ created, failed }: Attempt) => {
  const t = useTexts(texts);
  const namesOf = useNames();
  return (
    <Notice tone="error" title={t('failed', { count: failed.length })}>
      <ul className="stack">
        {failed.map((item) => (
          <li key={fieldOf(item)}>{t('failed.item', { name: namesOf([item]), reason: item.reason })}</li>
        ))}
      </ul>
      {created.length > 0 && <p>{t('created', { names: namesOf(created) })}</p>}
    </Notice>
  );
};

/** The choice of models, and the button that creates everything. */
export const ModelChoice = (props: {
  adapter: Adapter;
  candidate: Candidate;
  models: readonly Offered[];
  connecting: Connecting;
  onConnected: (created: readonly Item[]) => void;
}) => {
  const t = useTexts(texts);
  const { adapter, candidate } = props;
  const { attempt, start } = props.connecting;
  const { created, isBusy, failed } = attempt;
  const [chosen, choose] = useState<readonly string[]>([]);
  const [settings, set] = useState<JsonObject>({ agent: true });
  const taken = useTaken();
  const find = (item: Omit<Item, 'id'>): Item | undefined => created.find((other) => isSame(item, other));
  const agent = created.find(({ part }) => part === 'agents');
  const agentOn = agent?.name ?? chosen.find((name) => name === settings.model) ?? chosen[0];
  const items = withIds(
    [
      { part: 'providers', name: adapter.name },
      ...chosen.map((name) => ({ part: 'models', name }) as const),
      ...(settings.agent && agentOn !== undefined ? [{ part: 'agents', name: agentOn } as const] : []),
    ],
    taken,
    (item) => {
      const { [fieldOf(item)]: typed } = settings;
      return find(item)?.id ?? (typeof typed === 'string' ? typed : undefined);
    },
  );
  const isReady = chosen.length > 0 && items.every(({ id }) => ID.test(id));
  const connect = async (): Promise<void> => {
    const outcome = await start({ candidate, items, prompt: t('agent.prompt') });
    if (outcome?.failed.length === 0) props.onConnected(outcome.created);
  };
  const hasFailed = failed.length > 0 && attempt.plan?.candidate === candidate;
  return (
    <fieldset className={`stack narrow ${css.plain}`} disabled={isBusy}>
      <ModelList
        name={adapter.name}
        models={props.models}
        chosen={chosen}
        isFixed={(name) => find({ part: 'models', name }) !== undefined}
        onChange={choose}
      />
      <Settings
        value={settings}
        models={chosen}
        items={items}
        isFixed={(item) => find(item) !== undefined}
        onChange={(changes) => set({ ...settings, ...changes })}
      />
      {hasFailed && <Failure {...attempt} />}
      <div className="row">
        <Button tone="primary" disabled={!isReady} onClick={() => void connect()}>
          {isBusy ? t('busy') : hasFailed ? t('failed.retry') : t('connect', { count: chosen.length || 1 })}
        </Button>
        {hasFailed && created.some(({ part }) => part === 'models') && (
          <Button onClick={() => props.onConnected(created)}>{t('failed.continue')}</Button>
        )}
      </div>
    </fieldset>
  );
};
