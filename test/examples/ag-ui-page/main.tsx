import type { ResumeEntry } from '@ag-ui/client';
import { type FormEvent, useEffect, useReducer, useState } from 'react';
import { createRoot } from 'react-dom/client';
import '../page.css';
import { Messages } from './messages.tsx';
import { type Activity, activity, agent, agentId, answer, load, run, say, stop } from './thread.ts';

/** A chat with an agent over AG-UI, and the state of its run. */

const Page = () => {
  const [, render] = useReducer((count: number) => count + 1, 0);
  const [problem, setProblem] = useState<Error>();
  const [decisions, setDecisions] = useState<ResumeEntry[]>([]);

  useEffect(() => {
    const { unsubscribe } = agent.subscribe({
      onRunInitialized: render,
      onMessagesChanged: render,
      onStateChanged: render,
      onRunFinalized: render,
    });
    load().catch(setProblem).finally(render);
    return unsubscribe;
  }, []);

  const attempt = (act: () => Promise<void>) => {
    setProblem(undefined);
    act().catch(setProblem).finally(render);
  };

  /** The run continues once all its interrupts are decided. */
  const decide = (interruptId: string, approved: boolean) => {
    const all = [...decisions, { interruptId, status: 'resolved' as const, payload: { approved } }];
    const isComplete = all.length === agent.pendingInterrupts.length;
    setDecisions(isComplete ? [] : all);
    if (isComplete) attempt(() => run(all));
  };

  const open = agent.pendingInterrupts.filter(({ id }) => !decisions.some((d) => d.interruptId === id));
  return (
    <main>
      <header>
        <h1>{agentId}</h1>
        <small>{STATUS[activity()]}</small>
      </header>
      <Messages
        messages={agent.messages}
        interrupts={open}
        onDecide={decide}
        onAnswer={(toolCallId, content) => attempt(() => answer(toolCallId, content))}
      />
      {problem && (
        <div className="problem" role="alert">
          {problem.message}
        </div>
      )}
      <details>
        <summary>State</summary>
        <pre>{JSON.stringify(agent.state, null, 2)}</pre>
      </details>
      <Composer
        activity={activity()}
        isWaiting={agent.pendingInterrupts.length > 0}
        onSend={(text) => attempt(() => say(text))}
        onStop={() => attempt(stop)}
      />
    </main>
  );
};

const STATUS: Record<Activity, string> = {
  unknown: 'loads…',
  followed: 'answers…',
  here: 'answers…',
  none: 'ready',
};

const Composer = (on: {
  activity: Activity;
  isWaiting: boolean;
  onSend(text: string): void;
  onStop(): void;
}) => {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '' || on.activity !== 'none') return;
    on.onSend(text);
    setText('');
  };
  return (
    <form className="send" onSubmit={submit}>
      <input
        aria-label="Message"
        placeholder={on.isWaiting ? 'Decide first' : 'Say something'}
        disabled={on.isWaiting}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {on.activity === 'followed' || on.activity === 'here' ? (
        <button type="button" onClick={on.onStop}>
          Stop
        </button>
      ) : (
        <button type="submit" className="main" disabled={on.isWaiting || on.activity === 'unknown'}>
          Send
        </button>
      )}
    </form>
  );
};

const root = document.getElementById('root');
if (root) createRoot(root).render(<Page />);
