import type { Test } from 'tap';
import type { LiveActor } from '../../src/schema/live-actor.ts';
import type { ProgramChart, ProgramList } from '../../src/schema/program.ts';
import { ask } from '../service/http.ts';
import { readBlocks } from '../service/stream.ts';
import { ADMIN_TOKEN, eventually, startTroupe, type Troupe, type TroupeOptions } from '../service/troupe.ts';
import type { Server } from './servers.ts';

/** A service that other programs report to, and its information about them. */

export type Frame = { type: string; [key: string]: unknown };

export type House = {
  troupe: Troupe;
  /** The address that programs report to. */
  address: string;
  list(): Promise<ProgramList>;
  /** Repeats the request until the condition holds. */
  until(isSo: (list: ProgramList) => boolean): Promise<ProgramList>;
  actors(program: string): Promise<LiveActor[]>;
  /** Returns after it is drawn, or will certainly not be. */
  chart(program: string, machine: string): Promise<ProgramChart>;
  follow(t: Test, machine?: string): Promise<{ until(is: (frame: Frame) => boolean): Promise<Frame[]> }>;
};

export const openHouse = async (
  t: Test,
  server: Server,
  { settings, ...options }: TroupeOptions = {},
): Promise<House> => {
  const troupe = await startTroupe(t, {
    settings: { inspection_addr: '127.0.0.1:0', http_server: server, ...settings },
    ...options,
  });
  // The contract tests validate the responses of a service against its document.
  const read = async <T>(path: string): Promise<T> => (await troupe.admin('GET', path)).body as T;
  const list = () => read<ProgramList>('/v1/system/programs');
  const { url } = await list();
  return {
    troupe,
    address: url ?? '',
    list,
    until: (isSo) => eventually(list, isSo),
    actors: async (program) =>
      (await read<{ items: LiveActor[] }>(`/v1/system/programs/${program}/actors`)).items,
    chart: (program, machine) =>
      eventually(
        () => read<ProgramChart>(`/v1/system/programs/${program}/machines/${encodeURIComponent(machine)}`),
        ({ chart }) => chart !== 'drawing',
      ),
    async follow(t, machine) {
      const query = machine === undefined ? '' : `?machine=${encodeURIComponent(machine)}`;
      const response = await ask(`${troupe.url}/v1/system/programs/stream${query}`, {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      });
      const blocks = readBlocks(response);
      t.teardown(() => blocks.close());
      return {
        async until(is) {
          const frames: Frame[] = [];
          for (;;) {
            const block = await blocks.next();
            if (block === undefined) throw new Error(`the stream ended: ${JSON.stringify(frames)}`);
            if (!block.startsWith('data: ')) continue;
            const frame: Frame = JSON.parse(block.slice(6));
            frames.push(frame);
            if (is(frame)) return frames;
          }
        },
      };
    },
  };
};
