import type { ResolveReferences } from '../../files/references.ts';
import type { OpenAiRoute, PositionOutcome } from '../../observability/metrics/openai-metrics.ts';
import type { FileLink } from '../../protocols/openai/chat-leg.ts';
import type { HeldRuns } from '../../protocols/openai/held-runs.ts';
import type { Legs } from '../../protocols/openai/legs.ts';
import type { Glob } from '../../schema/glob.ts';
import type { RouteDeps } from '../route-deps.ts';

/** Dependencies of the routes for clients of OpenAI. */
export type OpenAiDeps = Omit<RouteDeps, 'settings'> & {
  /** The published agents; a new object after each publication. */
  published(): { readonly ids: readonly string[]; readonly published_at: number };
  heldRuns: HeldRuns;
  observe: {
    positioned(route: OpenAiRoute, outcome: PositionOutcome): void;
    legEnded(status: string): void;
  };
  legs: Legs;
  /** Accepts references to files of a partition. @throws Invalid */
  acceptFiles: ResolveReferences;
  /** Returns a signed link to the content of a file. */
  fileLink: FileLink;
  /** Match the ids of agents that are models. */
  globs: readonly Glob[];
  settings: RouteDeps['settings'] & { openai: OpenAiSettings; foreground_release_wait_ms: number };
};

export type OpenAiSettings = {
  enabled: boolean;
  agents: readonly string[];
  chat_id_headers: readonly string[];
  user_headers: readonly string[];
  client_instructions: 'append' | 'ignore';
  tool_progress: 'hidden' | 'reasoning';
  on_disconnect: 'cancel' | 'continue';
  hold_waits_ms: number;
  blocking_wait_ms: number;
  unkeyed_retention_secs: number;
  response_retention_days: number;
};
