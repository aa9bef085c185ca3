import type { Glob } from '../../../../schema/glob.ts';
import { mcpSegment } from '../../../../schema/mcp-names.ts';
import type { JsonObject } from '../../../data/guard.ts';
import type { Tool } from '../../../data/resources.ts';
import { globOf } from '../../tools/tool.ts';
import { textsOf } from '../draft.ts';

/** The tools that an agent sees, with the reason (console.md 4.3.2, config.md 3.1). */

export const SIDES = ['allowed', 'excluded'] as const;
export type Side = (typeof SIDES)[number];

export const FIELDS = {
  allowed: { names: 'allowed_tools', patterns: 'allowed_tool_patterns' },
  excluded: { names: 'excluded_tools', patterns: 'excluded_tool_patterns' },
} as const;

export type Selection = { names: readonly string[]; patterns: readonly string[] };

/** Without a setting, the service allows all tools. */
export const selectionOf = (spec: JsonObject, side: Side): Selection => {
  const { names, patterns } = FIELDS[side];
  if (side === 'allowed' && spec[names] === undefined && spec[patterns] === undefined)
    return { names: [], patterns: ['*'] };
  return { names: textsOf(spec[names]), patterns: textsOf(spec[patterns]) };
};

/** The spec fields for a selection. An empty list is null on the allowed side, and left out on the excluded side. */
export const fieldsOf = (side: Side, { names, patterns }: Selection): JsonObject => {
  const none = side === 'allowed' ? null : undefined;
  const orNone = (list: readonly string[]) => (list.length > 0 ? list : none);
  return { [FIELDS[side].names]: orNone(names), [FIELDS[side].patterns]: orNone(patterns) };
};

export const mcpPattern = (server: string): string => `mcp__${mcpSegment(server)}__*`;

const rawMcpPattern = (server: string): string => `mcp__${server}__*`;

export const hasServer = ({ patterns }: Selection, server: string): boolean =>
  patterns.some((pattern) => pattern === mcpPattern(server) || pattern === rawMcpPattern(server));

export const withServer = (selection: Selection, server: string, wanted: boolean): Selection => {
  const others = selection.patterns.filter(
    (pattern) => pattern !== mcpPattern(server) && pattern !== rawMcpPattern(server),
  );
  return { ...selection, patterns: wanted ? [...others, mcpPattern(server)] : others };
};

/** Rewrites a pattern with the id of a server to the segment that the ids of its tools contain. */
const sanitised = (pattern: string, servers: readonly string[]): string => {
  const server = servers.find((id) => pattern.startsWith(`mcp__${id}__`));
  return server === undefined
    ? pattern
    : `mcp__${mcpSegment(server)}${pattern.slice(`mcp__${server}`.length)}`;
};

const compiled = (pattern: string, servers: readonly string[]): Glob => globOf(sanitised(pattern, servers));

export const matchesOf = (
  pattern: string,
  tools: readonly string[],
  servers: readonly string[] = [],
): string[] => {
  const glob = compiled(pattern, servers);
  return tools.filter((tool) => glob(tool));
};

/** Undefined if the pattern is empty or already present. */
export const withPattern = (selection: Selection, typed: string): Selection | undefined => {
  const pattern = typed.trim();
  if (pattern === '' || selection.patterns.includes(pattern)) return undefined;
  return { ...selection, patterns: [...selection.patterns, pattern] };
};

export type Verdict = {
  id: string;
  isVisible: boolean;
  /** `by` is the entry that decides. */
  reason: { kind: 'allowed' | 'excluded'; by: string } | { kind: 'unlisted' };
};

const finder = ({ names, patterns }: Selection, servers: readonly string[]) => {
  const literals = new Set(names);
  const globs = patterns.map((pattern) => [pattern, compiled(pattern, servers)] as const);
  return (id: string): string | undefined =>
    literals.has(id) ? id : globs.find(([, glob]) => glob(id))?.[0];
};

/** Exclusion takes precedence. */
export const verdictsOf = (
  spec: JsonObject,
  tools: readonly string[],
  servers: readonly string[] = [],
): Verdict[] => {
  const [allowed, excluded] = [
    finder(selectionOf(spec, 'allowed'), servers),
    finder(selectionOf(spec, 'excluded'), servers),
  ];
  return tools.map((id) => {
    const [allows, excludes] = [allowed(id), excluded(id)];
    if (allows === undefined) return { id, isVisible: false, reason: { kind: 'unlisted' } };
    if (excludes !== undefined) return { id, isVisible: false, reason: { kind: 'excluded', by: excludes } };
    return { id, isVisible: true, reason: { kind: 'allowed', by: allows } };
  });
};

/** The fields that make a tool visible or hide it, by its name. */
export const withTool = (
  spec: JsonObject,
  id: string,
  isVisible: boolean,
  servers: readonly string[] = [],
): JsonObject => {
  const [allowed, excluded] = [selectionOf(spec, 'allowed'), selectionOf(spec, 'excluded')];
  const without = ({ names, patterns }: Selection): Selection => ({
    names: names.filter((name) => name !== id),
    patterns,
  });
  const added = (selection: Selection): Selection => ({ ...selection, names: [...selection.names, id] });
  const isAllowed = allowed.patterns.some((pattern) => matchesOf(pattern, [id], servers).length > 0);
  if (isVisible) {
    return {
      ...fieldsOf('allowed', isAllowed ? allowed : added(without(allowed))),
      ...fieldsOf('excluded', without(excluded)),
    };
  }
  return {
    ...fieldsOf('allowed', without(allowed)),
    ...fieldsOf('excluded', isAllowed ? added(without(excluded)) : without(excluded)),
  };
};

/** The estimated tokens that a tool adds to each request, at four characters each. */
export const tokensOf = ({ request_bytes: bytes }: Pick<Tool, 'request_bytes'>): number | undefined =>
  bytes === undefined ? undefined : Math.ceil(bytes / 4);
