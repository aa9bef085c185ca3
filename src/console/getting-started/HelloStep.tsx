import { lazy, Suspense, useState } from 'react';
import { WEATHER_QUESTION } from '../../schema/demo-question.ts';
import { Composer } from '../chat/Composer.tsx';
import { useAtom } from '../data/use-atom.ts';
import { Button } from '../design/Button.tsx';
import { SkeletonRows } from '../design/Notice.tsx';
import { locale, useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import css from './GettingStarted.module.css';
import type { TalkState } from './HelloTalk.tsx';
import texts from './texts.json' with { type: 'json' };
import { useDemoAgent } from './use-demo-agent.ts';

/** The modules of the chat are a third of the console, so they are loaded with the first message. */
const HelloTalk = lazy(() => import('./HelloTalk.tsx'));

const STARTING: TalkState = { isBusy: true, stop: () => {} };

/** A conversation with the demo agent in place. */
export const HelloStep = () => <Hello agentId={useDemoAgent()} demoQuestion />;

/** A conversation with an agent in place. `demoQuestion` also offers the question that the demo agent can answer. */
export const Hello = ({ agentId, demoQuestion }: { agentId: string; demoQuestion: boolean }) => {
  const t = useTexts(texts);
  const [threadId] = useState(() => crypto.randomUUID());
  const [sent, setSent] = useState<readonly string[]>([]);
  const [talk, setTalk] = useState(STARTING);
  const hasBegun = sent.length > 0;
  const isBusy = hasBegun && talk.isBusy;
  const send = (text: string): void => setSent([...sent, text]);
  const weather = WEATHER_QUESTION[useAtom(locale)];
  const questions = [t('hello.message'), ...(demoQuestion ? [weather] : [])];
  return (
    <div className="stack narrow">
      {hasBegun && (
        <div className={`card column ${css.talk}`}>
          <Suspense fallback={<SkeletonRows rows={2} />}>
            <HelloTalk agentId={agentId} threadId={threadId} sent={sent} onState={setTalk} />
          </Suspense>
        </div>
      )}
      <div className="row">
        {questions.map((question) => (
          <Button key={question} icon="send" disabled={isBusy} onClick={() => send(question)}>
            {question}
          </Button>
        ))}
      </div>
      <Composer
        placeholder={t('hello.placeholder', { agent: agentId })}
        isBusy={isBusy}
        attachments={false}
        last={sent.at(-1)}
        onSend={send}
        onStop={talk.stop}
      />
      {hasBegun && (
        <p>
          <ScreenLink
            to={`/playground?agent=${encodeURIComponent(agentId)}&thread=${encodeURIComponent(threadId)}`}
          >
            {t('hello.continue')}
          </ScreenLink>
        </p>
      )}
    </div>
  );
};
