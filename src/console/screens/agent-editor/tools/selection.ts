import type { Glob } from '../../../../schema/glob.ts';
import { mcpSegment } from '../../../../schema/mcp-names.ts';
import type { JsonObject } from '../../../data/guard.ts';
import type { Tool } from '../../../data/resources.ts';
import { globOf } from '../../tools/allowed.ts';
import { textsOf } from '../draft.ts';

/** Which tools an agent sees, and why (console.md 4.3.2, config.md 3.1). */

export type Side = 'allowed' | 'excluded';

export const FIELDS = {
  allowed: { names: 'allowed_tools', patterns: 'allowed_tool_patterns' },
  excluded: { names: 'excluded_tools', patterns: 'excluded_tool_patterns' },
} as const;

export type Selection = { names: readonly string[]; patterns: readonly string[] };

/** An agent that says nothing of what is allowed is given everything by the service. */
export const selectionOf = (spec: JsonObject, side: Side): Selection => {
  const { names, patterns } = FIELDS[side];
  if (side === 'allowed' && spec[names] === undefined && spec[patterns] === undefined)
    return { names: [], patterns: ['*'] };
  return { names: textsOf(spec[names]), patterns: textsOf(spec[patterns]) };
};

/** The fields of the spec that say this. Nothing is null where it is allowed, and not there where it is excluded. */
export const fieldsOf = (side: Side, { names, patterns }: Selection): JsonObject => {
  const none = side === 'allowed' ? null : undefined;
  const said = (list: readonly string[]) => (list.length > 0 ? list : none);
  return { [FIELDS[side].names]: said(names), [FIELDS[side].patterns]: said(patterns) };
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

/** A pattern of a server's own id matches its tools, whose ids have it otherwise. */
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

/** Undefined: it was there before, or it is empty. */
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

/** Excluding wins. */
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

export type ToolGroup = { kind: string; from: string | undefined; tools: Tool[] };

/** By where they come from: the service's own first. */
export const groupsOf = (tools: readonly Tool[]): ToolGroup[] => {
  const groups = new Map<string, ToolGroup>();
  for (const tool of tools) {
    const { kind, id: from } = tool.source;
    const key = `${kind}/${from ?? ''}`;
    const group = groups.get(key) ?? { kind, from, tools: [] };
    group.tools.push(tool);
    groups.set(key, group);
  }
  const order = ['builtin', 'plugin', 'mcp'];
  return [...groups.values()].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
};
