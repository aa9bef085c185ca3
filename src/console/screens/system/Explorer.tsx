import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { RequestError } from '../../data/error.ts';
import { anyObject } from '../../data/guard.ts';
import { parseJson } from '../../data/json-text.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { type Method, sendRaw } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { InputField, SelectField, TextField } from '../../design/Inputs.tsx';
import { Json } from '../../design/Json.tsx';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { addressOf, type Operation, operationsIn } from './operations.ts';
import texts from './texts.json' with { type: 'json' };

const DOCUMENT: Resource<unknown> = { path: '/openapi.json', guard: anyObject };

type Answer = { status: number; ms: number; body: unknown };

/** Reads only the type of a stream, which may never end. */
const bodyOf = async (response: Response): Promise<unknown> => {
  const type = response.headers.get('content-type') ?? '';
  if (type.includes('event-stream')) {
    await response.body?.cancel();
    return type;
  }
  return type.includes('json') ? response.json() : response.text();
};

const call = async (operation: Operation, given: Record<string, string>, body: string): Promise<Answer> => {
  const startedAt = performance.now();
  const ms = (): number => performance.now() - startedAt;
  const outgoing = {
    // The document contains no other methods (operations.ts).
    method: operation.method as Method,
    path: addressOf(operation, given),
    ...(operation.hasBody && body.trim() !== '' && { body: JSON.parse(body) as unknown }),
  };
  try {
    const response = await sendRaw(outgoing);
    return { status: response.status, ms: ms(), body: await bodyOf(response) };
  } catch (error) {
    if (!(error instanceof RequestError) || error.failure.kind !== 'http') throw error;
    return { status: error.failure.status, ms: ms(), body: error.failure.body };
  }
};

const Call = ({ operation }: { operation: Operation }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const [given, setGiven] = useState<Record<string, string>>({});
  const [body, setBody] = useState('');
  const attempt = useMutation({ mutationFn: () => call(operation, given, body) });
  const read = parseJson(body.trim() || 'null');
  const problem = operation.hasBody && 'reason' in read ? read.reason : undefined;
  const { data: answer } = attempt;
  return (
    <>
      {operation.summary !== '' && <p className="quiet">{operation.summary}</p>}
      {operation.parameters.length > 0 && (
        <div className="halves">
          {operation.parameters.map(({ name, place }) => (
            <InputField
              key={name}
              label={name}
              required={place === 'path'}
              value={given[name] ?? ''}
              onChange={(value) => setGiven({ ...given, [name]: value })}
            />
          ))}
        </div>
      )}
      {operation.hasBody && (
        <TextField
          isCode
          label={t('explorer.body')}
          error={problem && t('explorer.badJson', { message: problem })}
          rows={6}
          value={body}
          onChange={setBody}
        />
      )}
      <div className="row">
        <Button
          tone="primary"
          disabled={attempt.isPending || problem !== undefined}
          onClick={() => attempt.mutate()}
        >
          {t('explorer.try')}
        </Button>
        {operation.method !== 'GET' && <span className="quiet">{t('explorer.writes')}</span>}
        {answer && (
          <Chip tone={answer.status < 400 ? 'success' : 'error'}>
            {t('explorer.answer', { status: answer.status, duration: format.duration(answer.ms) })}
          </Chip>
        )}
        {attempt.error && <Chip tone="error">{attempt.error.message}</Chip>}
      </div>
      {answer && <Json value={answer.body} />}
    </>
  );
};

/** Calls any route of the service with the token of this browser. */
export const Explorer = () => {
  const t = useTexts(texts);
  const query = useResource(DOCUMENT);
  const operations = useMemo(() => operationsIn(query.data), [query.data]);
  const [name, choose] = useState('GET /v1/system/info');
  const operation = operations.find((one) => one.name === name) ?? operations[0];
  return (
    <Card title={t('explorer')} note={t('explorer.note')}>
      <Loaded query={query} plain>
        {() => (
          <div className="stack" data-wide>
            <SelectField
              label={t('explorer.route')}
              value={operation?.name ?? ''}
              onChange={choose}
              options={operations.map((one) => one.name)}
            />
            {operation && <Call key={operation.name} operation={operation} />}
          </div>
        )}
      </Loaded>
    </Card>
  );
};
