import { useState } from 'react';
import { Code } from '../chat/markdown/Code.tsx';
import { backendUrl } from '../data/request.ts';
import { FilterSelect } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import { LANGUAGES, SNIPPET_KINDS, type SnippetKind, snippetOf } from './snippets.ts';
import texts from './texts.json' with { type: 'json' };

/** Code that calls an agent, for a selectable protocol. */
export const Snippets = ({ agentId, threadId }: { agentId: string; threadId?: string | undefined }) => {
  const t = useTexts(texts);
  const [kind, setKind] = useState<SnippetKind>('chat');
  const url = backendUrl() || location.origin;
  return (
    <div className="stack">
      <FilterSelect
        label={t('label')}
        value={kind}
        options={SNIPPET_KINDS.map((each) => [each, t(`kind.${each}`)])}
        onChange={(value) => setKind(SNIPPET_KINDS.find((each) => each === value) ?? 'chat')}
      />
      <Code language={LANGUAGES[kind]} text={snippetOf(kind, { url, agentId, threadId })} />
    </div>
  );
};
