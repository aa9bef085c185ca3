import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bundled, nodeCommand } from '../child.ts';
import type { Line } from './history.ts';

/** Options of the process of a member, which are passed as JSON. */
export type MemberOptions = {
  name: string;
  /** The database through the proxy of this member. */
  url: string;
  /** The database without proxy and pooler, to load rows. */
  direct: string;
  pooled: boolean;
  ttlMs: number;
  /** Lineages that all members claim, and how many of them this one owns at most. */
  lineages: readonly string[];
  most: number;
  /** A lineage that no member owns. */
  foreign: string;
  /** Lineages that the member creates have the numbers after this one. */
  born: number;
  seed: number;
  /** Time between two groups. */
  pauseMs: number;
};

/** A process that writes as a member, see `child-member.ts`. */
export type MemberProcess = {
  /** The ids that it has had. */
  ids: string[];
  kill(): Promise<void>;
  stop(): void;
  resume(): void;
  /** Waits for the outcome of all its writes, and ends it. @throws if it fails or does not end */
  finish(): Promise<void>;
};

const FILE = fileURLToPath(new URL('./child-member.ts', import.meta.url));

const PATIENCE_MS = 60_000;

/** The part of a test that a member needs. */
type Scope = { teardown(end: () => void): void };

export const startMember = (t: Scope, options: MemberOptions, told: (line: Line) => void): MemberProcess => {
  const [command, args] = nodeCommand([bundled(FILE), JSON.stringify(options)]);
  const child: ChildProcess = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  t.teardown(() => void child.kill('SIGKILL'));
  const ids: string[] = [];
  let errors = '';
  child.stderr?.on('data', (text) => {
    errors += text;
  });
  child.stdin?.on('error', () => undefined);
  const ended = once(child, 'close');
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = parse(text);
      if (line === undefined) return;
      if (line.type === 'joined') ids.push(line.member);
      told(line);
    });
  return {
    ids,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    stop: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async finish() {
      child.stdin?.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
      await ended;
      clearTimeout(timer);
      if (child.exitCode !== 0) throw new Error(`${options.name} ended with ${child.exitCode}: ${errors}`);
    },
  };
};

/** The last line of a killed process may be incomplete: nothing was sent behind it. */
const parse = (text: string): Line | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
