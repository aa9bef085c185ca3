import { useEffect, useRef, useState } from 'react';
import { connection } from '../data/connection.ts';
import { anything } from '../data/guard.ts';
import { type Resource, useResource } from '../data/queries.ts';
import { runsSummarySlowly, systemInfo } from '../data/resources.ts';
import { token, tokenActor } from '../data/session.ts';
import { useAtom } from '../data/use-atom.ts';
import { auditLinesIn, newChanges, notify } from './notifications.ts';

const tail: Resource<unknown> = {
  path: '/v1/audit-log',
  query: { limit: 20 },
  guard: anything,
  off: { statuses: [404, 503] },
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
  useBackend();
};
