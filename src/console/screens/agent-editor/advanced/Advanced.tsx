import { isObject } from '../../../data/guard.ts';
import { Json } from '../../../design/Json.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import type { Editing } from '../editing.ts';
import { Resettable } from '../Overridden.tsx';
import type { Draft, PanelProps } from '../panel.ts';
import { Compaction } from './Compaction.tsx';
import { ContextPolicy } from './ContextPolicy.tsx';
import { RawJson } from './RawJson.tsx';
import { texts } from './texts.ts';

/** How much of a conversation a model gets, and everything at once as JSON. */

export type AdvancedProps = PanelProps & {
  editing: Editing;
  localKind: string;
  onReplace: (draft: Draft) => void;
};

export const Advanced = (props: AdvancedProps) => {
  const t = useTexts(texts);
  const { draft } = props;
  return (
    <>
      <Resettable field="context_policy">
        <ContextPolicy {...props} />
      </Resettable>
      <Compaction {...props} />
      {isObject(draft.endpoint) && (
        <Card title={t('endpoint')}>
          <Json value={{ endpoint: draft.endpoint }} label={t('endpoint')} />
        </Card>
      )}
      <RawJson {...props} />
    </>
  );
};
