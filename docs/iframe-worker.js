// Search from the file system: pages of file:// may start no Worker, so its script runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      document.body.append(frame)
      this.inside = frame.contentWindow
      this.inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.inside.importScripts = async (...scripts) => { for (const one of scripts) await this.load(one) }
      this.load(url).then(() => { for (const data of this.waiting.splice(0)) this.deliver(data) })
    }
    load(url) {
      return new Promise((done, failed) => {
        const script = Object.assign(this.inside.document.createElement("script"), { src: url, onload: done, onerror: failed })
        this.inside.document.body.append(script)
      })
      .finally(() => { this.ready = true })
    }
    postMessage(data) { if (this.ready) this.deliver(data); else this.waiting.push(data) }
    deliver(data) { this.inside.dispatchEvent(new MessageEvent("message", { data })) }
    terminate() {}
  }
  window.Worker = window.IFrameWorker
}
