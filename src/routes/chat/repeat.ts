import type { EventStream } from '../../http/sse.ts';
import { answerTo } from '../../protocols/ai-sdk/answer.ts';
import { type ChatRequest, nothingNew } from '../../protocols/ai-sdk/decode.ts';
import { frame } from '../../protocols/ai-sdk/frames.ts';
import { chatReplay } from '../../protocols/ai-sdk/replay.ts';
import type { ChatBody } from '../../protocols/ai-sdk/request.ts';
import { replayText } from '../../protocols/replay-log.ts';
import type { Protocol } from '../../runtime/index.ts';
import type { Run } from '../../schema/run.ts';
import { eventsOf } from '../replay.ts';
import type { Rooms } from '../rooms.ts';

/**
 * The response to a question that is stored already, whose answer did not reach the client, as when the service was
 * killed under it.
 *
 * Guarantees: nothing runs for it. The client joins the live stream if the run has one in this process; else it gets
 * the whole answer at once, from the log, when the run is done or waits.
 */

export type Repeated = Extract<ChatRequest, { kind: 'repeated' }> & { executes: boolean };

export const createRepeat =
  ({ store, events, runtime, chatStreams, log, settings }: Rooms) =>
  /** @throws Invalid when there is no answer to give */
  async (stream: EventStream, scope: string, body: ChatBody, repeated: Repeated): Promise<void> => {
    const { message_id, run, executes } = repeated;
    const { thread_id, run_id } = run;
    const leave = executes ? chatStreams.join(scope, thread_id, stream) : undefined;
    if (leave) return stream.onClose(leave);
    if (!events || settings.event_capture_mode === 'disabled') throw nothingNew(body.messages);

    /** Empty when the log does not have it. */
    const answer = (): string => replayText(answerTo(message_id, eventsOf(store, scope, { run_id }, 1)));
    const isFollowed = await runtime.follow(run, scope, (channel) => {
      let end = '';
      const leaveRun = channel.attach(END_ONLY, {
        write(frames) {
          end += frames;
        },
        end() {
          try {
            // A run that is let go as the service stops has no answer yet.
            const isAtRest = isResting(store.runs.get(scope, run_id));
            stream.write((isAtRest && answer()) || end);
          } catch (err) {
            // The run is not to fail for a reader that cannot be served.
            log.error({ err, thread_id, run_id }, 'the answer of a run cannot be told again');
            stream.write(frame('error', { errorText: 'the answer cannot be read' }));
          }
          stream.end();
        },
      });
      stream.onClose(leaveRun);
    });
    if (isFollowed) return;
    const text = answer();
    if (text === '') throw nothingNew(body.messages);
    stream.write(text);
    stream.end();
  };

const isResting = (run: Run | undefined): boolean => run?.status === 'done' || run?.status === 'waiting';

/** For readers who wait for the end of a stream, and why it ends. */
const END_ONLY: Protocol = {
  name: 'ai-sdk end',
  createEncoder: () => ({
    event: (event) => (event.event_type === 'run_finish' ? chatReplay.createEncoder().event(event) : ''),
    text: () => '',
    reasoning: () => '',
    toolDelta: () => '',
  }),
};
