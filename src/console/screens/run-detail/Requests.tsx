import { anyObject, list, number, object, optional, text } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { pathOf } from '../../data/request.ts';
import { Chip } from '../../design/Chip.tsx';
import { CopyButton } from '../../design/Copy.tsx';
import { Json } from '../../design/Json.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { isOpen, type Run } from '../../run-records/run.ts';
import texts from './texts.json' with { type: 'json' };

const Legs = object({
  items: list(
    object({
      id: text,
      object: text,
      leg: number,
      status: optional(text),
      created_at: optional(number),
      request: optional(anyObject),
    }),
  ),
});

const EVERY_MS = 5000;

/** The requests of a client of OpenAI that started or continued the run, with the ids that the client knows. */
export const Requests = ({ run }: { run: Run }) => {
  const t = useTexts(texts);
  const path = pathOf`/v1/runs/${run.run_id}/legs`;
  const query = useResource({ path, guard: Legs, every: isOpen(run) ? EVERY_MS : undefined });
  return (
    <Loaded query={query}>
      {({ items }) =>
        items.length === 0 ? (
          <EmptyState title={t('requests.none')}>{t('requests.noneText')}</EmptyState>
        ) : (
          <ol className="divided">
            {items.map(({ id, status, created_at, request }) => (
              <li key={id} className="stack" style={{ padding: '10px 14px' }}>
                <span className="row">
                  <code className="grow">{id}</code>
                  <CopyButton text={id} />
                  {status !== undefined && <Chip>{status}</Chip>}
                  {created_at !== undefined && <Ago at={created_at} />}
                </span>
                {request && <Json value={request} label={t('requests.parameters')} />}
              </li>
            ))}
          </ol>
        )
      }
    </Loaded>
  );
};
