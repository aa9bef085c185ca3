import { defineTexts } from '../../i18n/texts.ts';

export const texts = defineTexts(
  {
    title: 'Other programs',
    purpose:
      'Any program of XState 5 on this machine can report what its actors do, and is drawn here as it moves.',
    off: 'The service takes no reports. Start it with an address of this machine to report to:',
    none: 'No program has reported yet. Each appears here as soon as it does.',
    or: 'or',
    example: 'What the program needs (npm install @statelyai/inspect)',
    connected: 'connected',
    gone: 'gone',
    refused: {
      one: '{count} message was refused; the last: {why}',
      other: '{count} messages were refused; the last: {why}',
    },
    drawing: 'Being drawn…',
    stateless: 'These actors have no states to draw.',
    undrawn: 'There is no chart: {why}.',
    unknown: 'There is no such machine',
    unknownText: 'The program has gone, or never told of it.',
  },
  {
    title: '其他程序',
    purpose: '本机上任何 XState 5 程序都可以上报其参与者的活动，并在此实时绘制。',
    off: '服务目前不接收上报。请用本机的一个地址启动它：',
    none: '尚无程序上报。程序一上报就会出现在这里。',
    or: '或',
    example: '程序需要的代码（npm install @statelyai/inspect）',
    connected: '已连接',
    gone: '已离开',
    refused: { other: '{count} 条消息被拒绝；最近一条：{why}' },
    drawing: '正在绘制…',
    stateless: '这些参与者没有可绘制的状态。',
    undrawn: '没有状态图：{why}。',
    unknown: '没有这个状态机',
    unknownText: '该程序已离开，或从未上报过它。',
  },
);
