import { useChat } from '@ai-sdk/react';
import { type FormEvent, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import '../page.css';
import { address, catchUp, chat, onVisible, retry, stop } from './chat.ts';
import { Parts } from './parts.tsx';

/** A chat with an agent. Everything that it shows is on the service: it may be reloaded at any time. */

const Page = () => {
  const { messages, status, error, sendMessage } = useChat({ chat });
  const [problem, setProblem] = useState<Error>();
  const [hasLooked, setLooked] = useState(false);
  const busy = status === 'submitted' || status === 'streaming';

  const attempt = (act: () => Promise<void>) => {
    setProblem(undefined);
    act().catch(setProblem);
  };

  // Also on the way back from another tab, in which the conversation may have gone on.
  useEffect(
    () =>
      onVisible(() =>
        catchUp()
          .catch(setProblem)
          .finally(() => setLooked(true)),
      ),
    [],
  );

  const isUnanswered = hasLooked && !busy && messages.at(-1)?.role === 'user';
  const said = (error ?? problem)?.message ?? (isUnanswered && 'There is no answer.');
  return (
    <main>
      <header>
        <h1>{address.agentId}</h1>
        <small>{busy ? 'answers…' : status}</small>
      </header>
      <section className="messages">
        {messages.map((message) => (
          <article key={message.id} className={message.role}>
            <Parts parts={message.parts} isLast={message === messages.at(-1)} />
          </article>
        ))}
      </section>
      {said && (
        <div className="problem" role="alert">
          <span>{said}</span>
          <button type="button" onClick={() => attempt(retry)}>
            Try again
          </button>
        </div>
      )}
      <Composer busy={busy} onStop={() => attempt(stop)} onSend={sendMessage} />
    </main>
  );
};

type Said = { text: string; files?: FileList };

const Composer = (on: { busy: boolean; onStop(): void; onSend(said: Said): void }) => {
  const [text, setText] = useState('');
  const [files, setFiles] = useState<FileList | null>(null);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '' || on.busy) return;
    on.onSend({ text, ...(files && { files }) });
    setText('');
    setFiles(null);
  };

  return (
    <form className="send" onSubmit={submit}>
      <label className="file">
        {files?.[0]?.name ?? 'File'}
        <input type="file" onChange={(event) => setFiles(event.target.files)} />
      </label>
      <input
        aria-label="Message"
        placeholder="Say something"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {on.busy ? (
        <button type="button" onClick={on.onStop}>
          Stop
        </button>
      ) : (
        <button type="submit" className="main">
          Send
        </button>
      )}
    </form>
  );
};

const root = document.getElementById('root');
if (root) createRoot(root).render(<Page />);
