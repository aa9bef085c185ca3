import { useEffect, useRef, useState } from 'react';
import { connection } from '../data/connection.ts';
import { anything, list, number, object, optional, text } from '../data/guard.ts';
import { type Resource, useResource } from '../data/queries.ts';
import { runsSummarySlowly, systemInfo } from '../data/resources.ts';
import { token, tokenActor } from '../data/session.ts';
import { useAtom } from '../data/use-atom.ts';
import { auditLinesIn, type Connections, evalNews, mcpNews, newChanges, notify } from './notifications.ts';

const tail: Resource<unknown> = {
  path: '/v1/audit-log',
  query: { limit: 20 },
  guard: anything,
  off: { statuses: [404, 503] },
  every: 60_000,
};

const connections = {
  path: '/v1/system/actors',
  query: { machine: 'mcp-connection', limit: 200 },
  guard: object({ items: list(object({ id: text, state: text })) }),
  off: { statuses: [404] },
  every: 60_000,
};

/** The newest; more than these end in a minute where somebody looks at the screen of evaluations anyway. */
const endedEvals = {
  path: '/v1/eval/runs',
  query: { limit: 20 },
  guard: object({
    runs: list(
      object({
        id: text,
        dataset_id: text,
        ended_at_secs: optional(number),
        item_count: number,
        passed_count: number,
      }),
    ),
  }),
  off: { statuses: [404] },
  every: 60_000,
};

/** Waiting runs that were not there a look ago. */
const useWaiting = (isOn: boolean): void => {
  const waiting = useResource(runsSummarySlowly, isOn).data?.waiting;
  const before = useRef<number>(undefined);
  useEffect(() => {
    if (waiting === undefined) return;
    if (before.current !== undefined && waiting > before.current) {
      notify('waiting', 'bell.waiting', { count: waiting }, '/inbox');
    }
    before.current = waiting;
  }, [waiting]);
};

const useChanges = (isOn: boolean): void => {
  const hasLog = useResource(systemInfo, isOn).data?.audit_log_enabled === true;
  const log = useResource(tail, isOn && hasLog).data;
  const [own, setOwn] = useState<string>();
  const bearer = useAtom(token);
  const since = useRef<string>(undefined);
  useEffect(() => {
    let isCurrent = true;
    void tokenActor(bearer).then((actor) => {
      if (isCurrent) setOwn(actor);
    });
    return () => {
      isCurrent = false;
    };
  }, [bearer]);
  useEffect(() => {
    const lines = auditLinesIn(log);
    for (const { actor, resource } of newChanges(lines, since.current, own).reverse()) {
      const href = `/audit-log?resource=${encodeURIComponent(resource)}`;
      notify('config', 'bell.changed', { actor: actor.split('/')[1] ?? actor.slice(0, 8), resource }, href);
    }
    if (lines[0]) since.current = lines[0].id;
  }, [log, own]);
};

const useConnections = (isOn: boolean): void => {
  const found = useResource(connections, isOn).data;
  const before = useRef<Connections>(undefined);
  useEffect(() => {
    if (!found) return;
    const now: Connections = new Map(found.items.map(({ id, state }) => [id, state]));
    for (const { server, hasGivenUp } of mcpNews(before.current, now)) {
      const href = `/mcp-servers/${encodeURIComponent(server)}`;
      notify('mcp', hasGivenUp ? 'bell.gaveUp' : 'bell.recovered', { server }, href);
    }
    before.current = now;
  }, [found]);
};

const useEvals = (isOn: boolean): void => {
  const found = useResource(endedEvals, isOn).data;
  const known = useRef<Set<string>>(undefined);
  useEffect(() => {
    if (!found) return;
    for (const run of evalNews(known.current, found.runs).reverse()) {
      const { id, dataset_id: dataset, passed_count: passed, item_count: of } = run;
      const said = passed < of ? 'bell.evalFailed' : 'bell.evalPassed';
      notify('eval', said, { dataset, passed, of }, `/eval-runs/${encodeURIComponent(id)}`);
    }
    const ended = found.runs.filter(({ ended_at_secs }) => ended_at_secs !== undefined);
    known.current = new Set(ended.map(({ id }) => id));
  }, [found]);
};

const useBackend = (): void => {
  const status = useAtom(connection);
  const before = useRef(status);
  useEffect(() => {
    if (status === 'disconnected' && before.current !== 'disconnected') notify('backend', 'bell.lost');
    if (status === 'ok' && before.current === 'disconnected') notify('backend', 'bell.back');
    before.current = status;
  }, [status]);
};

export const useNotifications = (): void => {
  const isOn = useAtom(connection) === 'ok';
  useWaiting(isOn);
  useChanges(isOn);
  useConnections(isOn);
  useEvals(isOn);
  useBackend();
};
