import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { Problems } from '../../activity/Problems.tsx';
import { useRange } from '../../activity/RangeBar.tsx';
import { USUAL } from '../../activity/range.ts';
import { statsIn } from '../../activity/stats.ts';
import { optionsOf, useResource } from '../../data/queries.ts';
import { metaOf, NamedRecord, recordsOf } from '../../data/records.ts';
import { type AgentStats, capabilities, diagnostics, mcpStatus } from '../../data/resources.ts';
import { useAtom } from '../../data/use-atom.ts';
import { Button } from '../../design/Button.tsx';
import { Card } from '../../design/Layout.tsx';
import { Notice, SkeletonRows } from '../../design/Notice.tsx';
import { instantOf } from '../../i18n/format.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { tests } from '../providers/tests.ts';
import { type Known, knownOf, needsIn } from './needs.ts';
import { WAITING } from './open-runs.ts';
import texts from './texts.json' with { type: 'json' };

const EVERY_MS = 30_000;

const SERVERS = recordsOf('mcp-servers', NamedRecord, EVERY_MS);

/** The status of each MCP server. Servers whose status cannot be read are left out. */
const useServers = (): Known['servers'] => {
  const servers = useResource(SERVERS).data ?? [];
  const found = useQueries({ queries: servers.map(({ id }) => optionsOf(mcpStatus(id, EVERY_MS))) });
  return servers.flatMap(({ id }, index) => {
    const status = found[index]?.data;
    return status ? [{ id, status }] : [];
  });
};

/** Times of the last changes of providers. They are read only if an inference has failed. */
const useChanged = (agents: readonly AgentStats[]): Known['changed'] => {
  const hasFailed = agents.some(({ error_count }) => error_count > 0);
  const meta = useResource(metaOf('providers'), hasFailed).data ?? new Map();
  return new Map([...meta].map(([id, { updated_at }]) => [id, instantOf(updated_at) ?? 0]));
};

const MOST_SHOWN = 6;

/**
 * Required actions; one truth for failing agents, rejected keys, waits, servers and references.
 *
 * @param agent shows only what concerns this agent
 */
export const Needs = ({ agent }: { agent?: string }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const [showsAll, showAll] = useState(false);
  const { data: configured } = useResource(capabilities);
  const found = useResource(diagnostics);
  const open = useResource(WAITING);
  const { range } = useRange();
  // Statistics of a range that has ended do not describe the present.
  const stats = useResource(statsIn(range.until === undefined ? range : USUAL));
  const agents = stats.data?.agents ?? [];
  const known: Known = {
    agents,
    configured: configured && new Set(configured.agents),
    providers: configured && new Set(configured.providers.map(({ id }) => id)),
    diagnostics: found.data?.diagnostics ?? [],
    waiting: open.data?.items ?? [],
    servers: useServers(),
    tests: useAtom(tests),
    changed: useChanged(agents),
  };
  const needs = needsIn(t, agent === undefined ? known : knownOf(known, agent));
  const rest = showsAll ? 0 : Math.max(0, needs.length - MOST_SHOWN);
  if (needs.length === 0 && [found, open, stats].some(({ isPending }) => isPending))
    return <SkeletonRows rows={1} />;
  if (needs.length === 0)
    return (
      <Notice
        icon="check"
        title={t([found, open, stats].some(({ error }) => error) ? 'needed.partial' : 'needed.none')}
      />
    );
  return (
    <Card title={t('needed.title')} note={format.number(needs.length)} flush>
      <Problems problems={needs.slice(0, needs.length - rest)} />
      {rest > 0 && (
        <Button small tone="quiet" onClick={() => showAll(true)}>
          {t('needed.more', { count: rest })}
        </Button>
      )}
    </Card>
  );
};
