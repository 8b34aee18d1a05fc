// Calls of a worker: client.js sends a message with a number, and the worker answers with the same number.

/**
 * Answer each message with what a function returns, or with its error.
 *
 * @template {{id: number}} Call
 * @param {(call: Call) => object | Promise<object>} answer
 */
export function answerCalls(answer) {
  addEventListener("message", async (event) => {
    const call = /** @type {MessageEvent<Call>} */ (event).data;
    try {
      postMessage({ id: call.id, ...(await answer(call)) });
    } catch (error) {
      postMessage({ id: call.id, error: error instanceof Error ? error.message : String(error) });
    }
  });
}
