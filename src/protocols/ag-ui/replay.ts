import type { ReplayProtocol } from '../replay-log.ts';
import { createAgUiEncoder } from './encoder.ts';

/** The durable replay of a thread in this protocol; `replayPage` creates its frames. */
export const agUiReplay: ReplayProtocol = { code: 'agui', createEncoder: () => createAgUiEncoder() };
