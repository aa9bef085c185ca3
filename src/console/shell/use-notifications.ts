import { useEffect, useRef, useState } from 'react';
import { connection, isConnected } from '../data/connection.ts';
import { useIdentity } from '../data/identity.ts';
import { type Resource, useResource } from '../data/queries.ts';
import { systemInfo } from '../data/resources.ts';
import { token, tokenActor } from '../data/session.ts';
import { useAtom } from '../data/use-atom.ts';
import { useIsScreen } from '../navigation/screen-paths.ts';
import { waitingRunsSlowly } from '../run-records/waiting.ts';
import { Actors, AuditLines, changeNews, EvalRuns, evalNews, mcpNews, waitingNews } from './news.ts';
import { type News, notify } from './notifications.ts';

const EVERY_MS = 60_000;

const auditTail = { path: '/v1/audit-log', query: { limit: 20 }, guard: AuditLines, every: EVERY_MS };

const connections = {
  path: '/v1/system/actors',
  query: { machine: 'mcp-connection', limit: 200 },
  guard: Actors,
  every: EVERY_MS,
};

/**
 * Only the newest eval runs are read. If more of them end within a minute, the operator is watching them on their
 * screen.
 */
const evalRuns = { path: '/v1/eval/runs', query: { limit: 20 }, guard: EvalRuns, every: EVERY_MS };

/** Notifies about the differences between each read and the one before. */
const useNews = <T>(
  resource: Resource<T>,
  isOn: boolean,
  newsOf: (before: T, now: T) => readonly News[],
): void => {
  const { data } = useResource(resource, isOn);
  const before = useRef<T>(undefined);
  const compare = useRef(newsOf);
  compare.current = newsOf;
  useEffect(() => {
    if (data === undefined) return;
    if (before.current !== undefined) compare.current(before.current, data).forEach(notify);
    before.current = data;
  }, [data]);
};

/** The hash of the token, by which the audit log names this user. */
const useOwnActor = (): string | undefined => {
  const [own, setOwn] = useState<string>();
  const bearer = useAtom(token);
  useEffect(() => {
    let isCurrent = true;
    void tokenActor(bearer).then((actor) => {
      if (isCurrent) setOwn(actor);
    });
    return () => {
      isCurrent = false;
    };
  }, [bearer]);
  return own;
};

/** The first screen loads before the reads with which later ones are compared. */
const AFTER_MS = 3000;

export const useNotifications = (): void => {
  const { isPending } = useIdentity();
  const status = useAtom(connection);
  const isScreen = useIsScreen();
  const before = useRef(status);
  const [isLater, setLater] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLater(true), AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    if (status === 'disconnected' && before.current !== 'disconnected')
      notify({ kind: 'backend', text: 'bell.lost' });
    if (status === 'ok' && before.current === 'disconnected') notify({ kind: 'backend', text: 'bell.back' });
    before.current = status;
  }, [status]);
  const isOn = status === 'ok' && isLater;
  const own = useOwnActor();
  const hasLog = useResource(systemInfo, status === 'ok').data?.audit_log_enabled === true;
  useNews(waitingRunsSlowly, !isPending && isConnected(status) && isScreen('/inbox'), waitingNews);
  useNews(auditTail, isOn && hasLog, (earlier, now) => changeNews(earlier, now, own));
  useNews(connections, isOn, mcpNews);
  useNews(evalRuns, isOn && isScreen('/eval-runs'), evalNews);
};
