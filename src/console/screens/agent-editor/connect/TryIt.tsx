import { useState } from 'react';
import { list, object, optional, text, withDefault } from '../../../data/guard.ts';
import { reasonOf } from '../../../data/redact-text.ts';
import { checked, type Outgoing, sendRaw } from '../../../data/request.ts';
import { Button } from '../../../design/Button.tsx';
import { InputField } from '../../../design/Inputs.tsx';
import { Card } from '../../../design/Layout.tsx';
import { Notice, RequestLine } from '../../../design/Notice.tsx';
import { useAttempt } from '../../../feedback/use-attempt.ts';
import { useTexts } from '../../../i18n/locale.ts';
import { RunLink } from '../../../run-records/RunChip.tsx';
import texts from './texts.json' with { type: 'json' };

const Completion = object({ choices: list(object({ message: object({ content: optional(text) }) })) });
const Response = object({ output_text: withDefault(text, '') });

type Request = {
  agentId: string;
  /** Undefined for the credential of the console. */
  bearer: string | undefined;
  isResponses: boolean;
};

type Answer = { content: string; run: string | null };

const requestOf = ({ agentId, bearer, isResponses }: Request, message: string): Outgoing => ({
  method: 'POST',
  path: isResponses ? '/v1/responses' : '/v1/chat/completions',
  body: isResponses
    ? { model: agentId, input: message }
    : { model: agentId, messages: [{ role: 'user', content: message }] },
  ...(bearer !== undefined && { bearer, quiet: true }),
});

const ask = async (request: Request, message: string): Promise<Answer> => {
  const outgoing = requestOf(request, message);
  const response = await sendRaw(outgoing);
  const body: unknown = await response.json();
  const content = request.isResponses
    ? checked(outgoing, Response, body).output_text
    : checked(outgoing, Completion, body)
        .choices.map(({ message: { content: said = '' } }) => said)
        .join('\n');
  return { content, run: response.headers.get('x-troupe-run-id') };
};

/** Sends one request as a client would. */
export const TryIt = (request: Request) => {
  const t = useTexts(texts);
  const [message, setMessage] = useState(t('try.hello'));
  const { isBusy, result, error, run } = useAttempt<Answer>();
  return (
    <Card title={t('try')}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void run(() => ask(request, message));
        }}
      >
        <InputField
          label={t('try.message')}
          value={message}
          hint={t(request.bearer === undefined ? 'try.asConsole' : 'try.withKey')}
          onChange={setMessage}
        />
        <span className="row">
          <Button type="submit" disabled={isBusy || message.trim() === ''}>
            {t(isBusy ? 'try.busy' : 'try.go')}
          </Button>
          <RequestLine>{`POST ${requestOf(request, message).path}`}</RequestLine>
        </span>
      </form>
      <div className="stack" role="status">
        {error !== undefined && <Notice tone="error" title={reasonOf(error)} />}
        {result && (
          <p className="grow" dir="auto">
            {result.content || t('try.empty')}
          </p>
        )}
        {result && result.run !== null && <RunLink id={result.run} />}
      </div>
    </Card>
  );
};
