import type { EventStream } from '../../http/sse.ts';
import { answerTo } from '../../protocols/ai-sdk/answer.ts';
import { type ChatRequest, nothingNew } from '../../protocols/ai-sdk/decode.ts';
import { frame } from '../../protocols/ai-sdk/frames.ts';
import { chatReplay } from '../../protocols/ai-sdk/replay.ts';
import type { ChatBody } from '../../protocols/ai-sdk/request.ts';
import { replayText } from '../../protocols/replay-log.ts';
import type { Protocol } from '../../runtime/index.ts';
import type { Run } from '../../schema/run.ts';
import { readEventsFrom } from '../replay.ts';
import type { RouteDeps } from '../route-deps.ts';

/**
 * Responds to a repeated message whose response did not reach the client, for example because the service was killed.
 *
 * Guarantees: no run is started. The client joins the live stream if the run has one in this process. Otherwise it
 * receives the complete response from the log once the run is done or waits.
 */

export type Repeated = Extract<ChatRequest, { kind: 'repeated' }> & { executes: boolean };

export const createRepeat =
  ({ store, events, runtime, chatStreams, log, settings }: RouteDeps) =>
  /** @throws Invalid when no response is available */
  async (stream: EventStream, scope: string, body: ChatBody, repeated: Repeated): Promise<void> => {
    const { message_id, run, executes } = repeated;
    const { thread_id, run_id } = run;
    const leave = executes ? chatStreams.join(scope, thread_id, stream) : undefined;
    if (leave) return stream.onClose(leave);
    if (!events || settings.event_capture_mode === 'disabled') throw nothingNew(body.messages);

    /** Returns an empty text if the log does not contain the response. */
    const answer = (): string =>
      replayText(answerTo(message_id, readEventsFrom(store, scope, { run_id }, 1)));
    const isFollowed = await runtime.follow(run, scope, (channel) => {
      let end = '';
      const leaveRun = channel.attach(END_ONLY, {
        write(frames) {
          end += frames;
        },
        end() {
          try {
            // A run that is released by a stopping service has no response yet.
            const hasStopped = isInactive(store.runs.get(scope, run_id));
            stream.write((hasStopped && answer()) || end);
          } catch (err) {
            // A reader that cannot be served must not fail the run.
            log.error('chat.replay_failed', { err, thread_id, run_id });
            stream.write(frame('error', { errorText: 'the response cannot be read' }));
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

const isInactive = (run: Run | undefined): boolean => run?.status === 'done' || run?.status === 'waiting';

/** Reports only the end of a stream and its reason. */
const END_ONLY: Protocol = {
  name: 'ai-sdk end',
  createEncoder: () => ({
    event: (event) => (event.event_type === 'run_finish' ? chatReplay.createEncoder().event(event) : ''),
    text: () => '',
    reasoning: () => '',
    toolDelta: () => '',
  }),
};
